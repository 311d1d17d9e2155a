/// A result of a message: where it is, and what it needs to be read by itself.
struct HL7Result: BitwiseCopyable {
    /// Its segment OBX, and the first one that does not belong to it.
    var segment: Int
    var end: Int
    /// The segment of the container that names its device; -1 when it does so itself.
    var container = -1
    /// The segment of another one that contradicts it, or -1.
    var otherContainer = -1
    /// Whether it stands for several results that cannot be told apart, of which it is the first.
    var hasTwins = false
    /// Where its object is in the document.
    var (start, stop) = (0, 0)

    init(segment: Int, end: Int) { (self.segment, self.end) = (segment, end) }
}

/// The fields of a result that are read.
struct HL7ResultFields {
    /// OBX-2.
    private(set) var type: ByteView
    /// OBX-3: what was measured.
    private(set) var code: ByteView
    /// OBX-4: the place of what was measured in the tree of device, module, channel and metric.
    private(set) var containment: ByteView
    /// OBX-5.
    private(set) var value: ByteView
    /// OBX-8.
    private var flags: ByteView
    /// OBX-11.
    private var status: ByteView
    /// OBX-14.
    private(set) var time: ByteView
    /// OBX-18.
    private(set) var equipment: ByteView
    private let delimiters: HL7Delimiters

    /// Flags (OBX-8, IHE PCD-01) of what is no measurement of the patient, or none that may be relied on.
    private static let withheld: [StaticString] = [
        "TEST", "DEMO", "CALIB", "INV", "NAV", "BUSY", "OFF", "QUES", "EARLY",
    ]

    /// Reads `segment`, from its name on.
    init(_ segment: ByteView, _ delimiters: HL7Delimiters) {
        let none = segment[segment.count..<segment.count]
        self.delimiters = delimiters
        (type, code, containment, value) = (none, none, none, none)
        (flags, status, time, equipment) = (none, none, none, none)
        var (number, start) = (0, 0)
        while start <= segment.count, number <= 18 {
            let end = segment.firstIndex(of: delimiters.field, from: start) ?? segment.count
            take(number, segment[start..<end])
            (number, start) = (number + 1, end + 1)
        }
    }

    private mutating func take(_ number: Int, _ field: ByteView) {
        switch number {
        case 2: type = field
        case 3: code = field
        case 4: containment = field
        case 5: value = field
        case 8: flags = field
        case 11: status = field
        case 14: time = field
        case 18: equipment = field
        default: break
        }
    }

    /// Whether the line says what there is, and measures nothing: it has neither type nor value, and the last
    /// number of its place in the tree is 0.
    var isContainer: Bool {
        type.count == 0 && value.count == 0 && containment.isHL7Place && containment.part(3, between: 0x2E).isZero
    }

    /// Whether the status says that what was sent before is deleted (D), or was wrong (W).
    var isWithdrawn: Bool { status.count == 1 && [UInt8(ascii: "D"), UInt8(ascii: "W")].contains(status[0]) }

    /// Whether status and flags say that there is a result which may be filed.
    var isResult: Bool { hasResultStatus && !isWithheld }

    /// Whether the status (HL7 table 0085) is final (F), corrected (C), or entered and not verified by anybody (R), as
    /// monitors send by themselves.
    private var hasResultStatus: Bool {
        status.count == 1 && [UInt8(ascii: "F"), UInt8(ascii: "C"), UInt8(ascii: "R")].contains(status[0])
    }

    /// Whether one of the flags, the repetitions of OBX-8, says that the value is not to be filed.
    private var isWithheld: Bool {
        var start = 0
        while start < flags.count {
            let end = flags.firstIndex(of: delimiters.repetition, from: start) ?? flags.count
            let flag = flags[start..<end].part(0, between: delimiters.component).trimmed
            if Self.withheld.contains(where: { flag.equals(ByteView($0)) }) { return true }
            start = end + 1
        }
        return false
    }
}

extension ByteView {
    /// Whether it is four or five numbers with points between.
    var isHL7Place: Bool {
        var (numbers, digits) = (0, 0)
        for index in 0..<count {
            if self[index] == UInt8(ascii: "."), digits > 0 {
                (numbers, digits) = (numbers + 1, 0)
            } else if self[index] &- 0x30 < 10 {
                digits += 1
            } else {
                return false
            }
        }
        return digits > 0 && (numbers == 3 || numbers == 4)
    }

    /// A place in the tree without its last number: the channel of a metric. Empty when there is but one number.
    var hl7Channel: ByteView {
        var end = count
        while end > 0, self[end - 1] != UInt8(ascii: ".") { end -= 1 }
        return self[0..<max(end - 1, 0)]
    }

    fileprivate var isZero: Bool { count == 1 && self[0] == UInt8(ascii: "0") }
}

/// Where identifiers are in their fields.
enum HL7Identifier {
    /// The identifier of an instance of equipment (EI): its first component, else its universal one; nil for none.
    static func instance(_ field: ByteView, _ delimiters: HL7Delimiters) -> ByteView? {
        let first = field.part(0, between: delimiters.repetition)
        for component in [0, 2] {
            let text = first.part(component, between: delimiters.component)
            if text.count > 0, !text.isHL7Null { return text }
        }
        return nil
    }
}

/// Who the results of a group are of.
enum HL7Patient {
    /// The message does not say.
    case none
    /// The identifier.
    case one(ByteView)
    /// It names several, and not which of them counts.
    case several

    /// The patient of the segment `pid`: the only identifier of PID-3, else the only medical record number (MR), else
    /// the only internal identifier (PI).
    init(of pid: ByteView, _ delimiters: HL7Delimiters) {
        var found: [(identifier: ByteView, type: ByteView)] = []
        let list = pid.part(3, between: delimiters.field)
        var start = 0
        while start <= list.count {
            let end = list.firstIndex(of: delimiters.repetition, from: start) ?? list.count
            let entry = list[start..<end]
            let identifier = entry.part(0, between: delimiters.component)
            if identifier.count > 0, !identifier.isHL7Null {
                found.append((identifier, entry.part(4, between: delimiters.component)))
            }
            start = end + 1
        }
        self = Self.choose(found)
    }

    private static func choose(_ found: [(identifier: ByteView, type: ByteView)]) -> HL7Patient {
        guard found.count > 1 else { return found.first.map { .one($0.identifier) } ?? .none }
        for type in [ByteView("MR"), ByteView("PI")] {
            let typed = found.filter { $0.type.equals(type) }
            if typed.count == 1 { return .one(typed[0].identifier) }
            if typed.count > 1 { return .several }
        }
        return .several
    }
}
