import Glibc
package import KymographCore
package import KymographTemplates

/// Reads patient maps: see docs/patients.md.
package enum PatientsFile {
    private typealias Row = Setting<Entry>

    /// What a YAML file says of one period, and where.
    private struct Entry: Sendable {
        var period = PatientMap.Period(device: [], patient: [])
        var origins: [String: SettingOrigin] = [:]
    }

    /// Most bytes of a table, and of a YAML file, in which to find a line takes longer.
    private static let (mostBytes, mostYAMLBytes) = (64 << 20, 256 << 10)

    /// The map at `path`, which is read again when it has changed.
    ///
    /// - Throws: ``SettingProblem`` with the place of the first error.
    static func open(_ path: String) throws(SettingProblem) -> PatientBook {
        try PatientBook(path) { () throws(SettingProblem) in try read(path) }
    }

    /// The map at `path`.
    ///
    /// - Throws: ``SettingProblem`` with the place of the first error.
    private static func read(_ path: String) throws(SettingProblem) -> PatientMap {
        let (map, findings) = check(path)
        guard let first = findings.first else { return map }
        let more = findings.count > 1 ? ", and \(findings.count - 1) more" : ""
        throw SettingProblem(
            message: "\(first.file):\(first.position.line):\(first.position.column): \(first.message)\(more)",
            advice: first.advice)
    }

    /// The map at `path`, and all that is wrong with it: then the map is empty.
    package static func check(_ path: String) -> (map: PatientMap, errors: [Diagnostic]) {
        var log = ConfigurationLog()
        guard let bytes = content(path) else {
            log.add(
                Diagnostic(
                    .error, file: path, position: .start, message: "it cannot be read: \(ErrorText.of(errno))",
                    advice: "name a file of at most \(mostBytes >> 20) MiB"))
            return (PatientMap(), log.all)
        }
        guard bytes.isEmpty || bytes.last == 0x0A else {
            log.add(
                Diagnostic(
                    .error, file: path, position: .start, message: "its last line has no end: it may be cut",
                    advice: "end the file with a line feed; write it beside the former one, and rename it"))
            return (PatientMap(), log.all)
        }
        let stated = isYAML(path) ? list(path, bytes, &log) : PatientTable.read(path, bytes, log: &log)
        let map = log.all.isEmpty ? PatientPeriods.map(stated, file: path, log: &log) : PatientMap()
        return (map, log.all)
    }

    private static func content(_ path: String) -> [UInt8]? {
        // Not to wait for a writer, should it be a pipe.
        let raw = FileSystem.open(path, O_RDONLY | O_NONBLOCK)
        guard raw >= 0 else {
            errno = -raw
            return nil
        }
        let file = Descriptor(raw)
        var bytes: [UInt8] = []
        while bytes.count <= mostBytes {
            guard let count = FileSystem.read(file.raw, 1 << 20, into: &bytes) else { return nil }
            if count == 0 { return bytes }
        }
        errno = EFBIG
        return nil
    }

    private static func isYAML(_ path: String) -> Bool {
        [".yaml", ".yml", ".json"].contains { path.lowercased().hasSuffix($0) }
    }

    // MARK: YAML

    private static func list(_ path: String, _ bytes: [UInt8], _ log: inout ConfigurationLog) -> [StatedPeriod] {
        guard bytes.count <= mostYAMLBytes else {
            log.add(
                Diagnostic(
                    .error, file: path, position: .start, message: "it is longer than \(mostYAMLBytes >> 10) KiB",
                    advice: "write a map of so many devices as CSV"))
            return []
        }
        let text = ConfigurationText(name: path, bytes: bytes, variables: [:])
        guard let root = text.root(log: &log) else {
            if log.all.isEmpty {
                log.add(
                    Diagnostic(
                        .error, file: path, position: .start, message: "it is empty", advice: "begin with 'patients:'"))
            }
            return []
        }
        guard case .mapping(let pairs) = root.content, pairs.count == 1, case .text("patients") = pairs[0].key.content
        else {
            log.add(
                .error, root.origin("patients"), "expected the key 'patients' alone", advice: "begin with 'patients:'")
            return []
        }
        return ElementListReader.read(pairs[0].value, form, log: &log).compactMap { stated($0, &log) }
    }

    private static func stated(_ entry: Entry, _ log: inout ConfigurationLog) -> StatedPeriod? {
        guard let origin = entry.origins["device"] else { return nil }
        guard entry.origins["patient"] != nil else {
            log.add(.error, origin, "there is no patient", advice: "name one, or remove the element")
            return nil
        }
        if let problem = PatientPeriods.problem(entry.period) {
            log.add(.error, origin, problem.message, advice: problem.advice)
        }
        return StatedPeriod(period: entry.period, position: origin.position)
    }

    private static var form: ElementListReader<Entry>.Form {
        .init(
            name: "patients", noun: "period", kinds: ["device"], settings: keys,
            example: "- device: pump-3", adviceWhenEmpty: "name a device, or remove the map",
            messageWithoutKind: "no device is named", start: Entry(), origins: \.origins)
    }

    private static let keys: [Row] = [
        identifier("device", "Identifier of the device") { $0.device = $1 },
        identifier("patient", "Identifier of its patient") { $0.patient = $1 },
        identifier("encounter", "Identifier of the encounter") { $0.encounter = $1 },
        Row(
            key: "tags", form: "tag", about: "Tags of the readings that are filed by it", values: .text,
            elements: { _ in [] }
        ) { (texts, entry) throws(SettingProblem) in
            entry.period.tags = try PatientPeriods.tags(texts)
        } shown: { _ in
            ""
        },
        time("from", "First time of the period", .distantPast) { $0.from = $1 },
        time("to", "First time after it", .distantFuture) { $0.to = $1 },
    ]

    private static func identifier(
        _ key: String, _ about: String, _ set: @escaping @Sendable (inout PatientMap.Period, [UInt8]) -> Void
    ) -> Row {
        .single(key, "identifier", about, .text) { (text, entry) throws(SettingProblem) in
            set(&entry.period, try PatientPeriods.identifier(Array(text.utf8), key))
        } shown: { _ in
            ""
        }
    }

    private static func time(
        _ key: String, _ about: String, _ open: Instant,
        _ set: @escaping @Sendable (inout PatientMap.Period, Instant) -> Void
    ) -> Row {
        .single(key, "time", about, .text) { (text, entry) throws(SettingProblem) in
            set(&entry.period, try PatientPeriods.time(Array(text.utf8), open: open))
        } shown: { _ in
            ""
        }
    }
}
