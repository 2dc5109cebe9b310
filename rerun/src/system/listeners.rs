//! The listening sockets of one port, and what the kernel has dropped of each: gate 9 asks for a server's own.
//!
//! sock_diag(7) tells what `ss -ltm` shows as `d`: a connection that found the listen queue full is a drop of that
//! socket, whoever else listens on the machine.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result, bail};
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

/// More than the kernel puts into one datagram of a dump.
const DATAGRAM: usize = 32 * 1024;

/// Drops of each listening socket since it was opened, by the socket's cookie.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drops(BTreeMap<[u8; 8], u32>);

impl Drops {
    /// Of all who listen on this port, on any address: several where `SO_REUSEPORT` is used.
    ///
    /// # Errors
    ///
    /// Where the kernel has no sock_diag, or does not let this process use it.
    pub fn of(port: u16) -> Result<Self> {
        let mut drops = BTreeMap::new();
        for (family, mut asked) in [
            (AF_INET, SocketId::new_v4()),
            (AF_INET6, SocketId::new_v6()),
        ] {
            asked.source_port = port;
            for found in dump(family, asked)? {
                let id = found.header.socket_id;
                let memory = found.nlas.iter().find_map(|attribute| match attribute {
                    Nla::MemInfo(memory) => Some(memory.drops),
                    _ => None,
                });
                if let (Some(memory), true) = (memory, id.source_port == port) {
                    drops.insert(id.cookie, memory);
                }
            }
        }
        Ok(Self(drops))
    }

    /// What was dropped since then. A socket that is new has dropped all of its own since.
    pub fn since(&self, before: &Self) -> u64 {
        let grown = self.0.iter().map(|(cookie, drops)| {
            let before = before.0.get(cookie).copied().unwrap_or(0);
            u64::from(drops.wrapping_sub(before))
        });
        grown.sum()
    }
}

/// Asks for all listening sockets like this one.
fn dump(family: u8, asked: SocketId) -> Result<Vec<InetResponse>> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::SKMEMINFO,
        states: StateFlags::LISTEN,
        socket_id: asked,
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);

    let netlink = socket(
        AddressFamily::Netlink,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::NetlinkSockDiag,
    )
    .context("a sock_diag socket")?;
    send(netlink.as_raw_fd(), &bytes, MsgFlags::empty()).context("asking sock_diag")?;
    let mut found = Vec::new();
    let mut datagram = vec![0; DATAGRAM];
    loop {
        let length = recv(netlink.as_raw_fd(), &mut datagram, MsgFlags::empty());
        let mut rest = &datagram[..length.context("sock_diag's answer")?];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest)?;
            // Each message begins at a multiple of four.
            let next = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(next..).unwrap_or_default();
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    found.push(*response);
                }
                NetlinkPayload::Done(_) => return Ok(found),
                NetlinkPayload::Error(error) => bail!("sock_diag: {error}"),
                _ => (),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    use socket2::{Domain, Socket, Type};

    /// A listener that never accepts, with room for two: the kernel lets in one more than the backlog.
    fn full(address: SocketAddr) -> Socket {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener.set_reuse_port(true).unwrap();
        listener.bind(&address.into()).unwrap();
        listener.listen(1).unwrap();
        listener
    }

    fn address(socket: &Socket) -> SocketAddr {
        socket.local_addr().unwrap().as_socket().unwrap()
    }

    /// Its SYN is sent, whatever becomes of it.
    fn knock(address: SocketAddr) -> Socket {
        let client = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        client.set_nonblocking(true).unwrap();
        let _ = client.connect(&address.into());
        client
    }

    fn any() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    #[test]
    fn an_overflow_is_the_listeners_own() {
        let (overflowing, other) = (full(any()), full(any()));
        let port = |socket: &Socket| address(socket).port();
        let before = Drops::of(port(&overflowing)).unwrap();
        let other_before = Drops::of(port(&other)).unwrap();
        assert_eq!((before.0.len(), other_before.0.len()), (1, 1));
        let clients: Vec<Socket> = (0..10).map(|_| knock(address(&overflowing))).collect();
        let _one = knock(address(&other));
        let dropped = Drops::of(port(&overflowing)).unwrap().since(&before);
        assert!(dropped >= clients.len() as u64 - 2, "{dropped}");
        assert_eq!(Drops::of(port(&other)).unwrap().since(&other_before), 0);
    }

    #[test]
    fn all_listeners_of_a_port_count() {
        let one = full(any());
        let other = full(address(&one));
        let port = address(&one).port();
        let before = Drops::of(port).unwrap();
        assert_eq!(before.0.len(), 2);
        // The kernel shares them out between the two.
        let clients: Vec<Socket> = (0..20).map(|_| knock(address(&other))).collect();
        let dropped = Drops::of(port).unwrap().since(&before);
        assert!(dropped >= clients.len() as u64 - 4, "{dropped}");
    }

    #[test]
    fn a_counter_that_has_wrapped_and_a_new_socket() {
        let drops = |counts: &[(u8, u32)]| {
            Drops(
                counts
                    .iter()
                    .map(|(key, count)| ([*key; 8], *count))
                    .collect(),
            )
        };
        let before = drops(&[(1, u32::MAX), (2, 7)]);
        assert_eq!(drops(&[(1, 1), (2, 7)]).since(&before), 2);
        assert_eq!(drops(&[(3, 4)]).since(&before), 4);
        assert_eq!(Drops::of(1).unwrap(), Drops::default());
    }
}
