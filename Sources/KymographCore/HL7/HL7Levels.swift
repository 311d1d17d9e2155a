/// Which segments of a message belong together: those of the message, of a patient, and of an order with its results.
struct HL7Levels {
    /// Segments before the first patient or order.
    private(set) var head = 0..<0
    /// Segments of the patient, the first of which is PID; none before the first one.
    private(set) var patient = 0..<0
    /// Patients so far.
    private(set) var patientNumber = 0
    /// Segments of the order and its results.
    private(set) var order = 0..<0
    /// Segments of the order that are neither results nor parts of them.
    private(set) var aroundResults: [Int] = []
    /// The segment OBR of the order.
    private(set) var observationRequest: Int?
    private var position = 1

    /// Of no message.
    init() {}

    /// Goes before the first group of the message with these segments.
    mutating func begin(_ segments: borrowing HL7SegmentList) {
        position = Self.end(of: 1, segments)
        (head, patient, order) = (1..<position, 0..<0, 0..<0)
        (patientNumber, observationRequest) = (0, nil)
        aroundResults.removeAll(keepingCapacity: true)
    }

    /// Moves on to the next order with its results; false at the end.
    mutating func next(_ segments: borrowing HL7SegmentList) -> Bool {
        while position < segments.count, segments[position].name == .pid {
            let start = position
            position = Self.end(of: start + 1, segments)
            patient = start..<position
            patientNumber += 1
        }
        guard position < segments.count else { return false }
        let start = position
        var mayHaveRequest = segments[start].name == .orc
        observationRequest = segments[start].name == .obr ? start : nil
        position += 1
        while position < segments.count, segments[position].name != .pid, segments[position].name != .orc {
            if segments[position].name == .obr {
                guard mayHaveRequest else { break }
                (mayHaveRequest, observationRequest) = (false, position)
            }
            position += 1
        }
        order = start..<position
        findAroundResults(segments)
        return true
    }

    /// Looks for segments that the group has twice, and may have once.
    ///
    /// - Throws: ``ScanFailure`` at the second one.
    func check(_ segments: borrowing HL7SegmentList) throws(ScanFailure) {
        for level in [head, patient, order] {
            for index in level where segments[index].name.isSingle {
                for other in level.lowerBound..<index where segments[other].name == segments[index].name {
                    throw ScanFailure(reason: .malformedMessage, offset: segments[index].start)
                }
            }
        }
    }

    /// The first segment behind the result at `index`, and behind those that belong to it.
    func end(ofResult index: Int, _ segments: borrowing HL7SegmentList) -> Int {
        var end = index + 1
        while end < order.upperBound, segments[end].name == .nte || segments[end].name == .prt { end += 1 }
        return end
    }

    private mutating func findAroundResults(_ segments: borrowing HL7SegmentList) {
        aroundResults.removeAll(keepingCapacity: true)
        var index = order.lowerBound
        while index < order.upperBound {
            if segments[index].name == .obx {
                index = end(ofResult: index, segments)
            } else {
                aroundResults.append(index)
                index += 1
            }
        }
    }

    /// The first segment from `index` on that begins a patient, an order or a result.
    private static func end(of index: Int, _ segments: borrowing HL7SegmentList) -> Int {
        var end = index
        while end < segments.count, ![.pid, .orc, .obr, .obx].contains(segments[end].name) { end += 1 }
        return end
    }
}
