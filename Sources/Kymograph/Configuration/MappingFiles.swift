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

    /// Makes a mapping from the content of its files.
    package init(name: String, device: [UInt8], fhir: [UInt8], examples: [MappingExample] = []) {
        self.name = name
        self.device = device
        self.fhir = fhir
        self.examples = examples
    }

    /// Reads the mapping in the folder `directory`: `device.json`, `fhir.json` and, when there is one, `examples/`.
    ///
    /// - Throws: ``MappingFilesError`` naming the file that is missing or cannot be read.
    package static func load(directory: String) throws(MappingFilesError) -> MappingFiles {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isFolder) else {
            throw .noSuchFolder(directory)
        }
        guard isFolder else { throw .notAFolder(directory) }
        let names = ["device.json", "fhir.json"] + (try examples(in: directory))
        var files: [(path: String, bytes: [UInt8])] = []
        for name in names { files.append((name, try read("\(directory)/\(name)"))) }
        return try MappingFiles(name: directory, files: files)
    }

    /// Assembles a mapping from its files by path inside the folder; `name` is the folder in messages.
    init(name: String, files: [(path: String, bytes: [UInt8])]) throws(MappingFilesError) {
        func content(_ path: String) throws(MappingFilesError) -> [UInt8] {
            guard let file = files.first(where: { $0.path == path }) else {
                throw .missingFile(path: "\(name)/\(path)", inExamples: false)
            }
            return file.bytes
        }
        self.init(
            name: name, device: try content("device.json"), fhir: try content("fhir.json"),
            examples: try MappingExample.pair(files.filter { $0.path.hasPrefix("examples/") }, folder: name))
    }

    private static func read(_ path: String) throws(MappingFilesError) -> [UInt8] {
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
    /// No mapping of the catalogue has this name; `nearest` is the one that was probably meant.
    case unknownName(String, nearest: String?)
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
                : "\(path) is missing; a mapping is a folder with device.json and fhir.json"
        case .unreadable(let path):
            "\(path) cannot be read; check its permissions"
        case .unknownName(let name, let nearest):
            unknownName(name, nearest: nearest)
        case .unknownExample(let path):
            "\(path): examples are named <name>.in.json, <name>.in.hex and <name>.out.json"
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
