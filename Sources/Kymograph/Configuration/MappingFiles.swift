import FoundationEssentials

/// The bytes of one mapping: what a device type's folder holds, read from the catalogue or from disk, not yet parsed.
package struct MappingFiles: Sendable, Equatable {
    /// Catalogue name, or the folder's path as it was given.
    package var name: String
    /// Content of `device.json`: payload to measurements.
    package var device: [UInt8]
    /// Content of `fhir.json`: measurements to Observations.
    package var fhir: [UInt8]
    /// The mapping's tests, in byte order of their names.
    package var examples: [MappingExample]
    /// What messages call the two files: paths, or `mapping/file` for the catalogue.
    package var deviceFile: String
    package var fhirFile: String
    /// The folder that has the folder of examples; nil for the catalogue.
    package var folder: String?

    /// Makes a mapping from the content of its files.
    package init(name: String, device: [UInt8], fhir: [UInt8], examples: [MappingExample] = []) {
        self.name = name
        self.device = device
        self.fhir = fhir
        self.examples = examples
        let folder = FileSystem.withoutSlashes(name)
        deviceFile = "\(folder)/\(TemplateKind.device.fileName)"
        fhirFile = "\(folder)/\(TemplateKind.fhir.fileName)"
    }

    /// Reads the mapping in the folder `directory`: `device.json` and `fhir.json`, or what ``MappingFolder`` finds in
    /// their place, and, when there is one, `examples/`.
    ///
    /// - Throws: ``MappingFilesError`` naming the file that is missing or cannot be read.
    package static func load(directory: String) throws(MappingFilesError) -> MappingFiles {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isFolder) else {
            throw .noSuchFolder(directory)
        }
        guard isFolder else { throw .notAFolder(directory) }
        let folder = MappingFolder(directory)
        let (device, fhir) = (try folder.find(.device), try folder.find(.fhir))
        var files = MappingFiles(name: directory, device: device.bytes, fhir: fhir.bytes)
        (files.deviceFile, files.fhirFile, files.folder) = (device.path, fhir.path, directory)
        let path = FileSystem.withoutSlashes(directory)
        files.examples = try MappingExample.pair(try read(try examples(in: path), of: path), folder: path)
        return files
    }

    /// Reads a mapping from two files of any names. Its examples are in the folder `examples` beside the file of device
    /// templates, where other files are passed over.
    ///
    /// - Throws: ``MappingFilesError`` naming the file that cannot be read, or has no such templates.
    static func load(
        device: String, fhir: String, name: String, withExamples: Bool
    ) throws(MappingFilesError) -> MappingFiles {
        var files = MappingFiles(
            name: name, device: try content(.device, of: device), fhir: try content(.fhir, of: fhir))
        (files.deviceFile, files.fhirFile) = (device, fhir)
        let folder = device.lastIndex(of: "/").map { String(device[..<$0]) } ?? "."
        files.folder = folder
        guard withExamples else { return files }
        let paths = try examples(in: folder).filter(MappingExample.isExample)
        files.examples = try MappingExample.pair(try read(paths, of: folder), folder: folder)
        return files
    }

    /// The templates of `kind` that the file `path` holds.
    private static func content(_ kind: TemplateKind, of path: String) throws(MappingFilesError) -> [UInt8] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw .noSuchFile(path, kind)
        }
        guard !isFolder else { throw .isAFolder(path, kind) }
        let bytes = try read(path)
        let file = TemplateFile(path: path, bytes: bytes)
        if let content = try file.content(kind) { return content }
        if file.has(kind.other) { throw .otherKind(path, kind) }
        // What is wrong in it is told when it is loaded.
        return bytes
    }

    private static func read(
        _ paths: [String], of folder: String
    ) throws(MappingFilesError) -> [(path: String, bytes: [UInt8])] {
        var files: [(path: String, bytes: [UInt8])] = []
        for path in paths { files.append((path, try read("\(folder)/\(path)"))) }
        return files
    }

    /// Assembles a mapping of the catalogue from its files by path inside the folder; `name` is the folder in messages.
    init(name: String, files: [(path: String, bytes: [UInt8])]) throws(MappingFilesError) {
        func content(_ path: String) throws(MappingFilesError) -> [UInt8] {
            guard let file = files.first(where: { $0.path == path }) else {
                throw .missingFile(path: "\(FileSystem.withoutSlashes(name))/\(path)", inExamples: false)
            }
            return file.bytes
        }
        self.init(
            name: name, device: try content("device.json"), fhir: try content("fhir.json"),
            examples: try MappingExample.pair(
                files.filter { $0.path.hasPrefix("examples/") }, folder: FileSystem.withoutSlashes(name)))
    }

    /// The content of `path`.
    ///
    /// - Throws: ``MappingFilesError`` when it is missing or cannot be read.
    static func read(_ path: String) throws(MappingFilesError) -> [UInt8] {
        guard FileManager.default.fileExists(atPath: path) else {
            throw .missingFile(path: path, inExamples: false)
        }
        guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path) }
        return [UInt8](data)
    }

    /// Paths of the files in the mapping's `examples` folder, which may be absent; editors' files are passed over.
    private static func examples(in directory: String) throws(MappingFilesError) -> [String] {
        let folder = "\(directory)/examples"
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw .unreadable(folder)
        }
        return names.filter { !$0.hasPrefix(".") && !$0.hasSuffix("~") }.map { "examples/\($0)" }
    }
}

/// Why a mapping's folder cannot be used. ``description`` says what to do.
package enum MappingFilesError: Error, Hashable, Sendable {
    /// Nothing is at this path.
    case noSuchFolder(String)
    /// The path is a file.
    case notAFolder(String)
    /// The folder lacks a file; `inExamples` tells an expected output whose input is missing from a template file.
    case missingFile(path: String, inExamples: Bool)
    /// The file exists and cannot be read.
    case unreadable(String)
    /// Nothing is at the path of a file of templates.
    case noSuchFile(String, TemplateKind)
    /// The path of a file of templates is a folder.
    case isAFolder(String, TemplateKind)
    /// The file has templates of the other kind than this.
    case otherKind(String, TemplateKind)
    /// Two places have templates of a kind.
    case ambiguous(TemplateKind, first: String, second: String)
    /// An export of a service has an expression in place of its mapping.
    case unresolvedExport(path: String, line: Int, text: String)
    /// No mapping of the catalogue has this name; `nearest` is the one that was probably meant.
    case unknownName(String, nearest: String?)
    /// No mapping of the catalogue has this name, but a folder does.
    case folderWithoutSlash(String)
    /// No mapping of the catalogue has this name, but a file does.
    case fileWithoutSlash(String)
    /// The example's file name has none of the known endings.
    case unknownExample(path: String)
    /// The `.in.hex` file holds something else than hexadecimal digits, white space and `#` comments.
    case invalidHex(path: String, line: Int)
}

extension MappingFilesError: CustomStringConvertible {
    /// What is wrong and what to do, in one line.
    package var description: String {
        switch self {
        case .noSuchFolder(let path):
            "\(path): no such folder; a mapping is a folder with device.json and fhir.json"
        case .notAFolder(let path):
            "\(path) is a file; name the folder that holds device.json and fhir.json"
        case .missingFile(let path, let inExamples):
            inExamples
                ? "\(path) is missing; an expected output needs an input of the same name"
                : "\(path) is missing; a mapping is a folder with device.json and fhir.json, or with files of any "
                    + "names that are known by \"templateType\": \"CollectionContent\" and \"CollectionFhir\""
        case .unreadable(let path):
            "\(path) cannot be read; let this user read it (chmod, chown)"
        case .noSuchFile(let path, let kind):
            "\(path): no such file; name a file with \"templateType\": \"\(kind.templateType)\""
        case .isAFolder(let path, let kind):
            "\(path) is a folder; name the file with \"templateType\": \"\(kind.templateType)\", or the folder with "
                + "--mapping"
        case .otherKind(let path, let kind):
            "\(path) has \"templateType\": \"\(kind.other.templateType)\", where \"\(kind.templateType)\" belongs; "
                + "exchange the two files"
        case .ambiguous(let kind, let first, let second):
            "\(first) and \(second) both have \"templateType\": \"\(kind.templateType)\"; keep one of them there, or "
                + "name the two files with --device-mapping and --fhir-mapping"
        case .unresolvedExport(let path, let line, let text):
            "\(path):\(line): the export has the expression \(text) in place of the mapping; save the mapping's JSON, "
                + "with its \"templateType\", in a file of its own"
        case .unknownName(let name, let nearest):
            unknownName(name, nearest: nearest)
        case .folderWithoutSlash(let name):
            "no mapping of the catalogue is called '\(name)', but a folder here is; did you mean './\(name)/'?"
        case .fileWithoutSlash(let name):
            "'\(name)' is a file, and no mapping; name the folder of a mapping, with a / in its path, or the file of a "
                + "configuration with --config"
        case .unknownExample(let path):
            "\(path): examples are named <name>.in.json, <name>.in.hex, <name>.in.hl7 and <name>.out.json"
        case .invalidHex(let path, let line):
            "\(path):\(line): not hexadecimal; write two digits a byte, white space between bytes, # before comments"
        }
    }

    private func unknownName(_ name: String, nearest: String?) -> String {
        let known = "the catalogue has \(MappingCatalogue.names.joined(separator: ", "))"
        let hint = nearest.map { "did you mean '\($0)'?" } ?? known
        return "no mapping is called '\(name)': \(hint) (a folder of your own needs a / in its path)"
    }
}
