//! Runs Test::Nginx::Socket files against a real nginx.
