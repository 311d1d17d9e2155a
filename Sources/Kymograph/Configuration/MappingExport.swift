import FoundationEssentials

/// Why a mapping could not be written to disk.
package struct MappingExportError: Error, Sendable {
    /// What is wrong and what to do.
    package var message: String
}

/// Writes mappings and examples to disk.
package enum MappingExport {
    /// Writes `files` into the new folder `folder`.
    ///
    /// - Throws: ``MappingExportError`` when the folder exists, or cannot be written.
    package static func write(_ files: MappingFiles, to folder: String) throws(MappingExportError) {
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw MappingExportError(message: "\(folder) exists already; name a new folder")
        }
        try create("\(folder)/examples")
        try write(files.device, to: "\(folder)/device.json")
        try write(files.fhir, to: "\(folder)/fhir.json")
        for example in files.examples {
            let stem = "\(folder)/examples/\(example.name)"
            try write(example.input, to: "\(stem).in.\(example.kind.rawValue)")
            if let output = example.output { try write(output, to: "\(stem).out.json") }
        }
    }

    /// Replaces the expected output of the example `name` in the mapping's folder.
    ///
    /// - Throws: ``MappingExportError`` when the file cannot be written.
    package static func write(expected: [UInt8], of name: String, in folder: String) throws(MappingExportError) {
        try write(expected, to: "\(folder)/examples/\(name).out.json")
    }

    private static func create(_ folder: String) throws(MappingExportError) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw MappingExportError(message: "\(folder) cannot be made; choose a folder that you may write to")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(MappingExportError) {
        guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
            throw MappingExportError(message: "\(path) cannot be written; check the folder's permissions")
        }
    }
}
