//! The `module!` that the sources taken in find in place of the crate's own.

/// Makes handlers and background tasks visible as `handlers::NAME`, whatever they are where they were written.
#[macro_export]
macro_rules! module {
    ($($entries:tt)*) => {
        pub(crate) mod handlers {
            #![allow(dead_code, non_camel_case_types, unused_imports, reason = "not all are taken; a type gets its handler's name")]
            use super::*;
            $crate::gather!($($entries)* ,);
        }
    };
}

/// The entries of [`module!`], one by one.
#[macro_export]
macro_rules! gather {
    ($(,)*) => {};
    (background $name:ident , $($rest:tt)*) => {
        pub(crate) async fn $name() {
            super::$name().await
        }
        $crate::gather!($($rest)*);
    };
    ($name:ident : $type:ty , $($rest:tt)*) => {
        pub(crate) struct $name($type);

        impl $crate::Handler for $name {
            fn configure(args: &mut $crate::Args<'_>) -> $crate::Result<Self, $crate::ArgError> {
                Ok($name($crate::Handler::configure(args)?))
            }

            fn handle(
                &self,
                request: &mut $crate::Request,
            ) -> impl Future<Output = $crate::Result<$crate::Response>> {
                self.0.handle(request)
            }
        }
        $crate::gather!($($rest)*);
    };
    ($name:ident , $($rest:tt)*) => {
        pub(crate) async fn $name(
            request: &mut $crate::Request,
        ) -> $crate::Result<$crate::Response> {
            super::$name(request).await
        }
        $crate::gather!($($rest)*);
    };
}
