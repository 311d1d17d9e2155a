import CKymographLinux

/// Who connected a Unix socket, as the kernel says (SO_PEERCRED): what the process was when it connected.
package struct PeerCredentials: Hashable, Sendable {
    /// The process, 0 when it is in a namespace that this process cannot see.
    package var process: Int32
    /// Its effective user.
    package var user: UInt32
    /// Its effective group.
    package var group: UInt32

    /// Asks the kernel who is at the other end of `descriptor`; nil when it does not say.
    init?(_ descriptor: Int32) {
        let peer = kymo_peer_of(descriptor)
        guard peer.error == 0 else { return nil }
        (process, user, group) = (peer.pid, peer.uid, peer.gid)
    }

    /// In messages.
    var text: String { "process \(process) of user \(user) and group \(group)" }
}
