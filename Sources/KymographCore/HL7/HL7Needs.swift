/// What the templates of a source look at in messages: all else is not written into documents.
package struct HL7Needs {
    /// Members of a result that no field has, because they are made of several, or read.
    struct Members: OptionSet {
        let rawValue: Int

        static let value = Members(rawValue: 1)
        static let comparator = Members(rawValue: 1 << 1)
        static let range = Members(rawValue: 1 << 2)
        static let ratio = Members(rawValue: 1 << 3)
        static let samples = Members(rawValue: 1 << 4)
        static let time = Members(rawValue: 1 << 5)
        static let end = Members(rawValue: 1 << 6)
        static let device = Members(rawValue: 1 << 7)
        static let patient = Members(rawValue: 1 << 8)
        static let channel = Members(rawValue: 1 << 9)
        /// Results that are withdrawn, which only templates that retract look for.
        static let withdrawn = Members(rawValue: 1 << 10)
        /// All but those.
        static let all = Members(rawValue: (1 << 10) - 1)

        /// The members that the name of one says; nothing for other names.
        init(named name: String) {
            switch name {
            case "value": self = .value
            case "comparator": self = .comparator
            case "low", "high": self = .range
            case "numerator", "denominator": self = .ratio
            case "samples": self = .samples
            case "time": self = .time
            case "end": self = .end
            case "device": self = .device
            case "patient": self = .patient
            case "channel": self = .channel
            case "withdrawn": self = .withdrawn
            default: self = []
            }
        }

        init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Fields beyond these are written always.
    private static let countedFields = 64

    /// Whether everything is looked at.
    private let all: Bool
    private var segments: Set<HL7SegmentName> = []
    private var fields = [Bool](repeating: false, count: HL7Needs.countedFields)
    private(set) var members: Members = []
    /// Whether expressions mention the channel of results, by which they tell several of one code apart.
    let tellsChannels: Bool

    /// What expressions that mention `names` look at; with `all`, everything.
    package init(names: [String], all: Bool) {
        self.all = all
        tellsChannels = names.contains("channel")
        members = all ? .all : []
        if names.contains("withdrawn") { members.insert(.withdrawn) }
        guard !all else { return }
        for name in names {
            let bytes = Array(name.utf8)
            members.formUnion(Members(named: name))
            if let number = Int(name), fields.indices.contains(number) { fields[number] = true }
            guard bytes.count == 3 else { continue }
            bytes.withByteView { _ = segments.insert(HL7SegmentName(at: 0, in: $0)) }
        }
    }

    /// Whether segments of this name are looked at.
    func has(_ name: HL7SegmentName) -> Bool { all || segments.contains(name) }

    /// Whether fields of this number are looked at, in any segment.
    @inline(__always)
    func has(field number: Int) -> Bool { all || number >= HL7Needs.countedFields || fields[number] }
}
