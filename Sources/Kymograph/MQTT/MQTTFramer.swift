import KymographCore

/// Finds packets in the bytes of a connection, which come in pieces. A packet that lies in one piece is not copied.
struct MQTTFramer: ~Copyable {
    /// What comes next. Views are valid until the next call.
    enum Step {
        /// A whole packet.
        case packet(MQTTHead, ByteView)
        /// A message that is too long, once all of it has come: its fields, and as much of the payload as may be kept.
        case tooLong(MQTTHead, ByteView)
    }

    /// Longest payload of a message.
    private let longest: Int
    /// The beginning of a packet that is not complete, or of a message whose rest is passed over.
    private var unfinished = ByteWriter(capacity: 256)
    /// Whether what is unfinished has been handed on, and its memory can be used again.
    private var isHandedOn = false
    /// The message of which bytes are to be passed over, and how many are left.
    private var passing: (head: MQTTHead, left: Int)?

    init(longest: Int) { self.longest = longest }

    /// Forgets what is not complete.
    mutating func reset() {
        unfinished.removeAll()
        passing = nil
        isHandedOn = false
    }

    /// The next step in `rest`, from which it takes bytes; nil when more are needed.
    ///
    /// - Throws: ``MQTTFault`` when no packet begins here; ``remains(_:)`` are its bytes.
    mutating func next(_ rest: inout ByteView) throws(MQTTFault) -> Step? {
        if isHandedOn { unfinished.removeAll() }
        isHandedOn = false
        if let passing { return pass(passing.head, passing.left, &rest) }
        if unfinished.count == 0 {
            guard let head = try MQTTHead(rest), head.total <= rest.count, !isTooLong(head) else {
                return try complete(&rest)
            }
            defer { rest = rest[head.total..<rest.count] }
            return .packet(head, rest[0..<head.total])
        }
        return try complete(&rest)
    }

    /// What the packet in which reading ended consists of, as far as it is there.
    func remains(_ rest: ByteView) -> ByteView { unfinished.count > 0 ? unfinished.view : rest }

    private func isTooLong(_ head: MQTTHead) -> Bool { head.length > MQTTHead.mostFields + longest }

    private mutating func complete(_ rest: inout ByteView) throws(MQTTFault) -> Step? {
        var head = try MQTTHead(unfinished.view)
        while head == nil, rest.count > 0 {
            unfinished.append(rest[0])
            rest = rest[1..<rest.count]
            head = try MQTTHead(unfinished.view)
        }
        guard let head else { return nil }
        let kept = isTooLong(head) ? head.count + MQTTHead.mostFields + longest : head.total
        let count = min(kept - unfinished.count, rest.count)
        unfinished.append(rest[0..<count])
        rest = rest[count..<rest.count]
        guard unfinished.count == kept else { return nil }
        unfinished.pad(by: ByteView.padding)
        guard kept == head.total else { return pass(head, head.total - kept, &rest) }
        isHandedOn = true
        return .packet(head, unfinished.view)
    }

    /// Passes over the last `left` bytes of a message, as far as they are there.
    private mutating func pass(_ head: MQTTHead, _ left: Int, _ rest: inout ByteView) -> Step? {
        let count = min(left, rest.count)
        rest = rest[count..<rest.count]
        isHandedOn = count == left
        passing = isHandedOn ? nil : (head: head, left: left - count)
        return isHandedOn ? .tooLong(head, unfinished.view) : nil
    }
}
