/// Writes messages of one result each, or of those that belong together, of the bytes that came, which can be sent and
/// mapped again by themselves.
struct HL7LetterWriter: ~Copyable {
    /// Bytes that the letters of one message may have beside those of the results themselves: a message of one large
    /// patient and many bad results would otherwise become a multiple of itself.
    private static let mostAround = 1 << 20

    private var letter = ByteWriter(capacity: 1_024)
    private var around = 0

    init() {}

    /// Begins with another message.
    mutating func begin() { around = 0 }

    /// A message of `results` alone, which are of one group and in its order, valid until the next call; their segments
    /// alone where the message has given too much already.
    mutating func letter(
        of results: [HL7Result], _ message: ByteView, _ segments: borrowing HL7SegmentList, _ levels: HL7Levels
    ) -> ByteView {
        letter.removeAll()
        let isWhole = around < Self.mostAround
        // Before the results of a group that begins with one, they would belong to the patient.
        let isBehind = segments[levels.order.lowerBound].name == .obx
        if isWhole {
            append(0, message, segments)
            for index in levels.patient { append(index, message, segments) }
            let end = isBehind ? 0 : results.last?.segment ?? 0
            for index in levels.aroundResults where index < end { append(index, message, segments) }
            appendContainers(results, message, segments)
            around += letter.count
        }
        for result in results {
            for index in result.segment..<result.end { append(index, message, segments) }
        }
        if isWhole, isBehind {
            let count = letter.count
            for index in levels.aroundResults { append(index, message, segments) }
            around += letter.count - count
        }
        return letter.view
    }

    private mutating func appendContainers(
        _ results: [HL7Result], _ message: ByteView, _ segments: borrowing HL7SegmentList
    ) {
        let containers = Set(results.flatMap { [$0.container, $0.otherContainer] }).filter { $0 >= 0 }
        for index in containers.sorted() { appendContainer(index, message, segments) }
    }

    private mutating func appendContainer(_ index: Int, _ message: ByteView, _ segments: borrowing HL7SegmentList) {
        append(index, message, segments)
        var next = index + 1
        while next < segments.count, segments[next].name == .nte || segments[next].name == .prt {
            append(next, message, segments)
            next += 1
        }
    }

    private mutating func append(_ index: Int, _ message: ByteView, _ segments: borrowing HL7SegmentList) {
        letter.append(message[segments[index].range])
        letter.append(0x0D)
    }
}
