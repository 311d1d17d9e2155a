import KymographCore

/// Mappings: those of the catalogue and those in use, with their examples.
enum MappingRoutes {
    static let all: [ConsoleRoute] = [
        .get("mappings") { (console, _) throws(ConsoleRefusal) in .json(list(console.subject)) },
        .get("mappings/tests") { (console, request) throws(ConsoleRefusal) in .json(try test(console, request)) },
        .get("mappings/files") { (console, request) throws(ConsoleRefusal) in
            // Nothing in it is of patients, or chosen by who could see its length.
            .json(try files(console, request)).packed(if: request.takesGzip)
        },
        .post("mappings/save", .edit, .change) { (console, request) throws(ConsoleRefusal) in
            let asked = try request.decode(MappingSaving.Asked.self)
            guard let reference = used(console.subject, asked.name) else {
                throw ConsoleRefusal(404, "noMapping", "no source uses this mapping")
            }
            return .json(try MappingSaving(reference, console.subject, request.session).save(asked))
        },
    ]

    /// A mapping in the list.
    private struct Row: Encodable {
        var name: String
        /// Whether it is compiled into kymo.
        var isOfCatalogue: Bool
        /// Whether it may be saved by who may edit.
        var isEditable: Bool
        /// Names of the sources that use it.
        var sources: [String]
        /// Readings that it has given since the start, by type.
        var types: [TypeCount]
    }

    private struct TypeCount: Encodable {
        var type: String
        var count: Int
    }

    private struct Files: Encodable {
        var name: String
        var deviceFile: String
        var deviceText: String
        var deviceDigest: String
        var fhirFile: String
        var fhirText: String
        var fhirDigest: String
    }

    private static func list(_ subject: ConsoleSubject) -> [Row] {
        let used = usedMappings(subject)
        let counters = CounterTable.samples(CounterInput(run: subject.view.facts().run))
        let names = used.map(\.name) + MappingCatalogue.names.filter { name in !used.contains { $0.name == name } }
        return names.map { name in
            let types = counters.of("kymo_mapping_matches_total").filter { $0.labels?["mapping"] == name }.map {
                TypeCount(type: $0.labels?["type"] ?? "", count: Int($0.value))
            }
            return Row(
                name: name, isOfCatalogue: MappingCatalogue.names.contains(name),
                isEditable: subject.settings.console.edits && Self.used(subject, name)?.watchedFiles.isEmpty == false,
                sources: used.first { $0.name == name }?.sources ?? [], types: types)
        }
    }

    /// The mappings that sources use, each with their names, in the order of the sources.
    private static func usedMappings(_ subject: ConsoleSubject) -> [(name: String, sources: [String])] {
        var used: [(name: String, sources: [String])] = []
        for source in subject.settings.listeningSources {
            for name in subject.settings.mappings(of: source) {
                if let place = used.firstIndex(where: { $0.name == name }) {
                    used[place].sources.append(source.name)
                } else {
                    used.append((name, [source.name]))
                }
            }
        }
        return used
    }

    /// The mapping that the query names, if it is in the list: no other folder can be read.
    private static func reference(
        _ console: Console, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> MappingReference {
        let name = request.query["name"] ?? ""
        if let used = used(console.subject, name) { return used }
        guard MappingCatalogue.names.contains(name) else {
            throw ConsoleRefusal(404, "noMapping", "neither the catalogue nor a source has this mapping")
        }
        return .named(name)
    }

    /// The mapping called `name`, if a source uses it.
    private static func used(_ subject: ConsoleSubject, _ name: String) -> MappingReference? {
        let settings = subject.settings
        return settings.listeningSources.lazy.flatMap { settings.references(of: $0) }.first { $0.name == name }
    }

    private static func test(
        _ console: Console, _ request: ConsoleRequest
    ) throws(ConsoleRefusal) -> ConsoleActions.Tested {
        guard let test = console.subject.actions.test else {
            throw ConsoleRefusal(501, "cannotTest", "this instance is part of another program: use 'kymo test'")
        }
        return test(try reference(console, request))
    }

    private static func files(_ console: Console, _ request: ConsoleRequest) throws(ConsoleRefusal) -> Files {
        let reference = try reference(console, request)
        do throws(MappingFilesError) {
            let files = try reference.files(withExamples: false)
            return Files(
                name: reference.name, deviceFile: files.deviceFile,
                deviceText: String(decoding: files.device, as: UTF8.self),
                deviceDigest: Digest256.hex(of: files.device),
                fhirFile: files.fhirFile, fhirText: String(decoding: files.fhir, as: UTF8.self),
                fhirDigest: Digest256.hex(of: files.fhir))
        } catch {
            throw ConsoleRefusal(503, "unreadable", error.description)
        }
    }
}
