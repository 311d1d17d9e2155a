import CKymographLinux
import Synchronization

/// What a handler makes of a request.
enum HTTPAnswer: Sendable {
    /// The reply, made at once.
    case reply(HTTPReply)
    /// Another thread makes it.
    case later(LaterAnswer)
}

/// An answer that another thread makes: one reply, or a stream of bytes until the client or the server ends it. A
/// client that has no reply after ``HTTPLimits/laterTime`` is told so, and one that gets no byte of a stream is cut.
final class LaterAnswer: Sendable {
    /// What the client's connection is to do next.
    enum Step {
        case nothing
        case reply(HTTPReply)
        /// Bytes of a stream, the first of them behind `head`.
        case stream(head: HTTPReply?, [UInt8])
        /// The stream has ended.
        case end
    }

    private struct State {
        var reply: HTTPReply?
        var head: HTTPReply?
        var bytes: [UInt8] = []
        var isEnded = false
        var isGone = false
        /// Raised when there is something to do; nil until a connection waits.
        var bell: Descriptor?
    }

    private let state = Mutex(State())

    /// Whether nobody waits any more.
    var isGone: Bool { state.withLock { $0.isGone } }

    /// Gives the whole reply. Nothing may follow.
    func finish(_ reply: HTTPReply) { give { $0.reply = reply } }

    /// Begins a stream with status and fields of `head`, whose body is not sent.
    func begin(_ head: HTTPReply) { give { $0.head = head } }

    /// Sends `bytes` of a stream that has begun. Where nothing waits before them they are not copied, so that many
    /// streams share what all get.
    func send(_ bytes: [UInt8]) {
        give { if $0.bytes.isEmpty { $0.bytes = bytes } else { $0.bytes += bytes } }
    }

    /// Ends a stream that has begun, behind what was sent.
    func end() { give { $0.isEnded = true } }

    private func give(_ change: (inout State) -> Void) {
        let bell = state.withLock { state in
            guard !state.isGone else { return Descriptor?.none }
            change(&state)
            return state.bell
        }
        if let bell { _ = kymo_event_raise(bell.raw) }
    }

    // MARK: The connection

    /// Has `bell` raised from here on.
    func attach(_ bell: Descriptor) { state.withLock { $0.bell = bell } }

    /// What has come since the last call.
    func take() -> Step {
        state.withLock { state in
            if let reply = state.reply {
                state.reply = nil
                return .reply(reply)
            }
            guard state.head != nil || !state.bytes.isEmpty else { return state.isEnded ? .end : .nothing }
            defer { (state.head, state.bytes) = (nil, []) }
            return .stream(head: state.head, state.bytes)
        }
    }

    /// Notes that nobody waits any more.
    func leave() {
        state.withLock { state in
            state = State()
            state.isGone = true
        }
    }
}
