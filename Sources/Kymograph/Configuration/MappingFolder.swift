import FoundationEssentials
import Glibc
import KymographCore

/// A folder that holds a mapping: `device.json` and `fhir.json`, or files of any names that are known by the type of
/// the templates in them, as the MedTech service has them.
struct MappingFolder {
    /// Largest file that is looked into for templates. Messages may lie beside a mapping.
    private static let largest = 16 << 20

    /// Its path without a slash at the end.
    private let path: String

    /// The folder `path`.
    init(_ path: String) {
        self.path = FileSystem.withoutSlashes(path)
    }

    /// The file with the templates of `kind`, and these.
    ///
    /// - Throws: ``MappingFilesError`` when there is none, when there are two, or when it cannot be read.
    func find(_ kind: TemplateKind) throws(MappingFilesError) -> (path: String, bytes: [UInt8]) {
        let usual = "\(path)/\(kind.fileName)"
        if FileManager.default.fileExists(atPath: usual) {
            let bytes = try MappingFiles.read(usual)
            // Whatever is wrong in it is told when it is loaded.
            return (usual, try TemplateFile(path: usual, bytes: bytes).content(kind) ?? bytes)
        }
        guard let file = try other(kind) else { throw .missingFile(path: usual, inExamples: false) }
        guard let content = try file.content(kind) else { throw .missingFile(path: usual, inExamples: false) }
        return (file.path, content)
    }

    /// The files whose change changes the mapping: those in use, and those that would take their place.
    var watchedFiles: [String] {
        let usual = TemplateKind.allCases.map { "\(path)/\($0.fileName)" }
        let found = TemplateKind.allCases.compactMap { kind in try? find(kind).path }
        return usual + found.filter { !usual.contains($0) }
    }

    /// The one file of another name that has templates of `kind`; one file at a time is in memory.
    private func other(_ kind: TemplateKind) throws(MappingFilesError) -> TemplateFile? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { throw .unreadable(path) }
        let usual = TemplateKind.allCases.map(\.fileName)
        var found: TemplateFile?
        for name in names.sorted() where !name.hasPrefix(".") && !name.hasSuffix("~") && !usual.contains(name) {
            let file = "\(path)/\(name)"
            guard isFileOfFittingSize(file) else { continue }
            guard let data = FileManager.default.contents(atPath: file) else {
                guard name.lowercased().hasSuffix(".json") else { continue }
                throw .unreadable(file)
            }
            let candidate = TemplateFile(path: file, bytes: [UInt8](data))
            guard candidate.has(kind) else { continue }
            if let found { throw .ambiguous(kind, first: found.path, second: file) }
            found = candidate
        }
        return found
    }

    private func isFileOfFittingSize(_ file: String) -> Bool {
        guard let status = FileSystem.target(file) else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size <= Self.largest
    }
}
