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
    /// the API that do are not packed, since the length of one would tell of a text that somebody chose whether the rest
    /// has it, too.
    private static let files = EmbeddedFolder.console.unpacked.map { File($0.path, $0.bytes) }

    /// The file at `path` below `/console/`, packed for a client that takes that; of the empty path the first page.
    static func reply(_ path: String, takesGzip: Bool) throws(ConsoleRefusal) -> HTTPReply {
        let path = path.isEmpty ? "index.html" : path
        guard let file = files.first(where: { $0.path == path }) else {
            throw ConsoleRefusal(404, "notFound", "the console has no such file")
        }
        var reply = HTTPReply(200, type: type(path), "")
        reply.body = file.bytes
        return reply.packed(as: takesGzip ? file.packed : nil)
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

extension HTTPReply {
    /// The reply in gzip form, if the client takes that.
    func packed(if takesGzip: Bool) -> HTTPReply {
        packed(as: takesGzip && body.count >= GzipBody.smallest ? GzipBody.compress(body) : nil)
    }

    /// The reply with the body in gzip form that `packed` is, where there is one.
    fileprivate func packed(as packed: [UInt8]?) -> HTTPReply {
        var reply = self
        reply.fields.append(.init(name: "Vary", value: "Accept-Encoding"))
        guard let packed else { return reply }
        reply.body = packed
        reply.fields.append(.init(name: "Content-Encoding", value: "gzip"))
        return reply
    }
}
