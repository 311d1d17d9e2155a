package import KymographCore

/// A folder of NDJSON files as bulk imports take them: each of resources of one type, and `manifest.json`, which lists
/// them in the form of HL7's Bulk Data Access.
package struct BulkFolder: ~Copyable {
    /// Bytes of a file from which on another one is begun.
    package static let usualBytes = 1 << 30

    private let path: String
    /// What comes before the names of files in the manifest.
    private let base: String
    private let mostBytes: Int
    private var files = HiddenFiles()
    /// Those that grow, one of each type.
    private var open: [BulkFile] = []
    /// The whole ones, as members of the manifest's list.
    private var output: [String] = []
    /// Resources in whole files.
    package private(set) var count = 0

    /// The folder `path`, which is made if it is not there, and must not have files of an earlier export. The manifest
    /// names files by `base` and their name.
    ///
    /// - Throws: ``SinkError`` when the folder cannot be used.
    package init(_ path: String, base: String, mostBytes: Int = usualBytes) throws(SinkError) {
        (self.path, self.base, self.mostBytes) = (path, base, mostBytes)
        try files.makeRoot(path)
        let names = FileSystem.names(in: path).filter { !$0.hasPrefix(".") }
        guard let other = names.first(where: { $0.hasSuffix(".ndjson") || $0 == Self.manifest }) else { return }
        throw SinkError(
            kind: .inUse, message: "\(path) has \(other) of an earlier export; name another folder, or remove this one")
    }

    private static let manifest = "manifest.json"

    /// Appends `resource`, whose members begin with its type.
    ///
    /// - Throws: ``SinkError`` when a file cannot be written.
    package mutating func append(_ resource: [UInt8]) throws(SinkError) {
        let type = Self.type(of: resource)
        if let place = open.firstIndex(where: { $0.type == type }) {
            if open[place].bytes < mostBytes { return try open[place].append(resource) }
            try finish(open.remove(at: place))
        }
        open.append(BulkFile(try files.begin(in: path, type, ".ndjson"), type: type))
        try open[open.count - 1].append(resource)
    }

    /// What follows `{"resourceType":"`.
    private static func type(of resource: [UInt8]) -> String {
        let start = "{\"resourceType\":\"".utf8.count
        return String(decoding: resource.dropFirst(start).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }

    private mutating func finish(_ file: BulkFile) throws(SinkError) {
        files.add(file.hidden, as: file.name)
        try file.finish()
        count += file.count
        var url = ByteWriter()
        url.appendJSON(base + String(decoding: file.name.utf8.dropFirst(path.utf8.count + 1), as: UTF8.self))
        output.append("{\"type\":\"\(file.type)\",\"url\":\"\(url.view.string)\",\"count\":\(file.count)}")
    }

    /// Ends all files, writes the manifest of what was there at `instant`, and gives them their names, the manifest
    /// last. Says how many files of resources there are.
    ///
    /// - Throws: ``SinkError`` when a file cannot be written.
    package mutating func publish(at instant: Instant) throws(SinkError) -> Int {
        while let file = open.last {
            try finish(file)
            open.removeLast()
        }
        let parts = output.sorted().joined(separator: ",")
        let text = """
            {"transactionTime":"\(instant.text)","request":"urn:kymograph:export","requiresAccessToken":false,\
            "outputFormat":"application/fhir+ndjson","output":[\(parts)],"error":[]}

            """
        let file = try GrowingFile(Self.manifest, in: path)
        files.add(file.path, as: file.name)
        try file.write(Array(text.utf8))
        try file.finish()
        try files.publish()
        return output.count
    }

    /// Removes what is not published, as far as that is possible.
    package mutating func abandon() {
        for file in open { FileSystem.remove(file.hidden) }
        files.abandon()
    }
}

/// A file of resources of one type that grows.
private final class BulkFile {
    let type: String
    /// The name that it gets when it is whole, and the one before that.
    let name: String
    let hidden: String
    private(set) var count = 0
    private(set) var bytes = 0
    private let file: GrowingFile
    private var buffer = ByteWriter()
    private static let bufferBytes = 1 << 18

    init(_ file: consuming GrowingFile, type: String) {
        (self.type, name, hidden) = (type, file.name, file.path)
        self.file = file
    }

    /// Appends a line with `resource`.
    func append(_ resource: [UInt8]) throws(SinkError) {
        buffer.append(resource)
        buffer.append(0x0A)
        bytes += resource.count + 1
        count += 1
        if buffer.count >= BulkFile.bufferBytes { try flush() }
    }

    private func flush() throws(SinkError) {
        try file.write(buffer.view)
        buffer.removeAll()
    }

    /// Writes what is left, durably.
    func finish() throws(SinkError) {
        try flush()
        try file.finish()
    }
}
