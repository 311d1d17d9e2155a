/// The files of the console's pages, which the build has compiled in from `console/`.
enum ConsoleAssets {
    private static let files = EmbeddedFolder.console.unpacked

    /// The file at `path` below `/console/`; of the empty path the first page.
    static func reply(_ path: String) throws(ConsoleRefusal) -> HTTPReply {
        let path = path.isEmpty ? "index.html" : path
        guard let file = files.first(where: { $0.path == path }) else {
            throw ConsoleRefusal(404, "notFound", "the console has no such file")
        }
        var reply = HTTPReply(200, type: type(path), "")
        reply.body = file.bytes
        return reply
    }

    private static func type(_ path: String) -> String {
        if path.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        if path.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if path.hasSuffix(".svg") { return "image/svg+xml" }
        return "text/html; charset=utf-8"
    }
}
