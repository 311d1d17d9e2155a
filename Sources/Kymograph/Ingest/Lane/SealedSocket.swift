import KymographCore

/// The keys of a UDP socket of sealed datagrams, and who has them. Of the lane's thread.
final class SealedSocket {
    /// Who has a key.
    struct Sender {
        /// The numbers that it has given to its datagrams.
        let page: SequenceBook.Page
        /// For letters and messages.
        let peer: Peer
        /// What it may bring; nil where there is no list of peers, or the list does not know it.
        fileprivate(set) var admission: PeerAdmission?
    }

    /// What becomes of a datagram before it is decrypted.
    enum Route {
        /// It may be decrypted by the key at this place.
        case key(Int, sequence: UInt64)
        case refused(Rejection)
    }

    /// The present keys; nil before they are looked at first.
    private(set) var keys: DatagramKeys?
    private(set) var senders: [Sender] = []
    private var list: PeerList?

    /// Whether there is a list of peers.
    var hasList: Bool { list != nil }

    /// Goes on with `keys` and the list of peers. What a key has had is in `book`, whatever becomes of the file.
    func follow(_ keys: DatagramKeys, _ list: PeerList?, _ book: SequenceBook) {
        guard keys !== self.keys || list !== self.list else { return }
        if keys !== self.keys {
            senders = keys.all.map { Sender(page: book.page(of: $0.print), peer: .key($0.name)) }
        }
        (self.keys, self.list) = (keys, list)
        for (place, key) in keys.all.enumerated() {
            var identity = PeerIdentity()
            identity.sealedKey = Array(key.name.utf8)
            senders[place].admission = list?.peer(identity)?.single
        }
    }

    /// By which key `datagram` is to be decrypted. A number that has come costs no decryption.
    func route(_ datagram: ByteView) -> Route {
        guard let head = SealedHead(datagram) else { return .refused(.notSealed) }
        guard let place = keys?.place(of: head.key) else { return .refused(.unknownKey) }
        return switch senders[place].page.verdict(head.sequence) {
        case .new: .key(place, sequence: head.sequence)
        case .repeated: .refused(.sequenceRepeated)
        case .stale: .refused(.sequenceStale)
        }
    }

    /// Notes the number of a datagram that was decrypted; why it is refused nevertheless: another source has had it
    /// meanwhile.
    func take(_ sequence: UInt64, by place: Int) -> Rejection? {
        switch senders[place].page.take(sequence) {
        case .new: nil
        case .repeated: .sequenceRepeated
        case .stale: .sequenceStale
        }
    }
}
