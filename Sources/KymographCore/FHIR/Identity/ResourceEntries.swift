/// What the entries of Patients and Devices have before the values of their identifiers, made once: lending it out of
/// arrays would count references for every Observation.
struct ResourceEntries: ~Copyable, Sendable {
    /// The texts of all resources of one type and identifier system.
    struct Kind: BitwiseCopyable {
        /// Type and identifier system, which references within a bundle are made of with the value behind them.
        fileprivate(set) var key = TextRange()
        /// The number of these among all kinds: those with the same ones are of the same resources.
        fileprivate(set) var number: UInt8 = 0
        /// The resource up to the value of its identifier.
        fileprivate(set) var resource = TextRange()
        /// Its type, and the identifier system.
        fileprivate(set) var type = TextRange()
        fileprivate(set) var system = TextRange()
    }

    /// Where a text is.
    struct TextRange: BitwiseCopyable {
        fileprivate var start = 0
        fileprivate var end = 0
    }

    /// Those of one run's, or the reference's, identifier systems.
    struct Kinds: BitwiseCopyable {
        /// The Patients that are named, and those that stand for the wearers of devices.
        let patient: Kind
        let deviceSubject: Kind
        let device: Kind
        /// The Device that the gateway is.
        let gateway: Kind
        /// Systems of Observations, of other resources and of encounters.
        let observation: TextRange
        let resource: TextRange
        let encounter: TextRange

        fileprivate init(_ systems: IdentifierSystems, _ texts: inout ByteWriter, _ keys: inout [[UInt8]]) {
            patient = ResourceEntries.kind("Patient", systems.patient, &texts, &keys)
            deviceSubject = ResourceEntries.kind("Patient", systems.deviceSubject, &texts, &keys)
            device = ResourceEntries.kind("Device", systems.device, &texts, &keys)
            gateway = ResourceEntries.kind("Device", systems.gateway.system, &texts, &keys)
            observation = ResourceEntries.range(&texts) { $0.append(systems.observation.plain) }
            resource = ResourceEntries.range(&texts) { $0.append(systems.resource.plain) }
            encounter = ResourceEntries.range(&texts) { $0.append(systems.encounter.plain) }
        }
    }

    private let texts: ByteWriter
    let own: Kinds
    let reference: Kinds

    init(own: IdentifierSystems, reference: IdentifierSystems) {
        var texts = ByteWriter(capacity: 4_096)
        var keys: [[UInt8]] = []
        self.own = Kinds(own, &texts, &keys)
        self.reference = Kinds(reference, &texts, &keys)
        self.texts = texts
    }

    /// A text; valid as long as this.
    @inline(__always)
    subscript(range: TextRange) -> ByteView { texts.view(range.start..<range.end) }

    /// The texts of `system` and `type`; `keys` are those of the kinds so far.
    private static func kind(
        _ type: StaticString, _ system: IdentifierSystem, _ texts: inout ByteWriter, _ keys: inout [[UInt8]]
    ) -> Kind {
        var kind = Kind()
        kind.type = range(&texts) { $0.append(type) }
        kind.system = range(&texts) { $0.append(system.plain) }
        kind.key = range(&texts) { texts in
            texts.append(type)
            texts.append("|")
            texts.append(system.plain)
            texts.append("|")
        }
        let key = texts.view(kind.key.start..<kind.key.end).array
        kind.number = UInt8(keys.firstIndex(of: key) ?? keys.count)
        keys.append(key)
        kind.resource = range(&texts) { texts in
            texts.append("{\"resourceType\":\"")
            texts.append(type)
            texts.append("\",\"identifier\":[")
            texts.appendHead(of: system)
        }
        return kind
    }

    private static func range(_ texts: inout ByteWriter, _ write: (inout ByteWriter) -> Void) -> TextRange {
        let start = texts.count
        write(&texts)
        return TextRange(start: start, end: texts.count)
    }
}
