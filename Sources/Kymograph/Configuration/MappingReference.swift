/// A mapping as a user names it.
package enum MappingReference: Hashable, Sendable {
    /// A name of the catalogue, or the path of a folder.
    case named(String)
    /// The paths of the two files of a mapping, which may have any names and lie anywhere.
    case files(device: String, fhir: String)

    /// What messages call the mapping; different ones of two mappings.
    package var name: String {
        switch self {
        case .named(let name): name
        case .files(let device, let fhir): "\(device) + \(fhir)"
        }
    }

    /// Reads the mapping's files. Of the catalogue examples are most of it, and few need them; of a folder they are
    /// always read, and what is wrong with them told; those of two files are beside the device templates.
    ///
    /// - Throws: ``MappingFilesError``.
    package func files(withExamples: Bool = true) throws(MappingFilesError) -> MappingFiles {
        switch self {
        case .named(let name): try MappingCatalogue.resolve(name, withExamples: withExamples)
        case .files(let device, let fhir):
            try MappingFiles.load(device: device, fhir: fhir, name: name, withExamples: withExamples)
        }
    }

    /// The files whose change changes the mapping; none of the catalogue.
    var watchedFiles: [String] {
        switch self {
        case .named(let name) where MappingCatalogue.isFolder(name): MappingFolder(name).watchedFiles
        case .named: []
        case .files(let device, let fhir): [device, fhir]
        }
    }
}
