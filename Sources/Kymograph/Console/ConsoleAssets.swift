/// The files of the console's pages, which the build has compiled in from `console/`.
enum ConsoleAssets {
    private struct File {
        var path: String
        var bytes: [UInt8]
        /// In gzip form; nil where that saves nothing worth it.
        var packed: [UInt8]?

        init(_ path: String, _ bytes: [UInt8]) {
            (self.path, self.bytes) = (path, bytes)
            packed = bytes.count < GzipBody.smallest ? nil : GzipBody.compress(bytes)
        }
    }

    /// Packed once, when the first page is asked for. They are the same for all and say nothing of readings; answers of
    /// the API are not packed, since the size of one would tell of the rest of it whether a text that somebody chose is
    /// in it.
    private static let files = EmbeddedFolder.console.unpacked.map { File($0.path, $0.bytes) }

    /// The file at `path` below `/console/`, packed for a client that takes that; of the empty path the first page.
    static func reply(_ path: String, takesGzip: Bool) throws(ConsoleRefusal) -> HTTPReply {
        let path = path.isEmpty ? "index.html" : path
        guard let file = files.first(where: { $0.path == path }) else {
            throw ConsoleRefusal(404, "notFound", "the console has no such file")
        }
        var reply = HTTPReply(200, type: type(path), "")
        reply.body = file.bytes
        reply.fields = [.init(name: "Vary", value: "Accept-Encoding")]
        guard takesGzip, let packed = file.packed else { return reply }
        reply.body = packed
        reply.fields.append(.init(name: "Content-Encoding", value: "gzip"))
        return reply
    }

    /// Whether the client of `request` takes gzip (RFC 9110, section 12.5.3).
    static func takesGzip(_ request: ReceivedRequest) -> Bool {
        request.values(of: "accept-encoding").contains { list in
            list.lowercased().split(separator: ",").contains { element in
                let parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
                guard parts.first == "gzip" else { return false }
                let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
                return weight.map { Double($0.dropFirst(2)) ?? 0 > 0 } ?? true
            }
        }
    }

    private static func type(_ path: String) -> String {
        if path.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        if path.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if path.hasSuffix(".svg") { return "image/svg+xml" }
        return "text/html; charset=utf-8"
    }
}
