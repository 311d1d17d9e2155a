import KymographCore

/// A request that is answered with an error, though it is well-formed.
struct HTTPDecline: Error {
    var reply: HTTPReply
    /// Why its sender is refused, and who that is, nil for nobody of the list; nil for other errors.
    var refusal: (reason: Rejection, peer: PeerAdmission?)?

    init(_ status: Int, _ code: String, _ message: String) { reply = .error(status, code, message) }
}

/// What the body of a request to ingest holds, as its head says.
struct HTTPIngestContent {
    /// Where readings are posted to.
    private static let path = "/v1/ingest"
    /// Most bytes of a body that was compressed.
    private static let mostInflated = 64 << 20
    /// Most bytes of it for each compressed one, and how many it may have in any case.
    private static let (ratio, mostOfAny) = (100, 65_536)
    /// Bytes that are decompressed at a time.
    private static let chunkBytes = 262_144

    /// How it is divided.
    enum Form {
        /// A reading a line.
        case lines
        /// A document, or an array of them.
        case documents
        /// An array of events, as clients of Azure Event Hubs send it.
        case events
    }

    /// What its sender is told when it was taken.
    enum Answer {
        /// How much was received, and what was rejected.
        case report
        /// The same, and what became of each line or document.
        case items
        /// As ``report`` with status 201, as Azure Event Hubs has it.
        case created
        /// An object for each document, as Nightscout has it.
        case objects
    }

    /// How it is divided.
    private(set) var form = Form.documents
    /// What its sender is told.
    private(set) var answer = Answer.report
    /// The reply to a request that brings nothing, and asks for no more than that; nil for others.
    private(set) var fixedReply: HTTPReply?
    private var compression: CompressionFormat?
    /// The mapping that it is for, by its path; nil for all of the source.
    private var named: IdentifierText?
    /// The same, also if the source has no others: there may be when a dead letter comes again.
    private(set) var mapping: IdentifierText?

    /// JSON that is not compressed.
    init() {}

    /// Reads `head`; `mappings` are those of the source.
    ///
    /// - Throws: ``HTTPDecline`` when the body is not to come.
    init(of head: HTTPHead, mappings: [IdentifierText]) throws(HTTPDecline) {
        let request = head.request
        let nightscout = NightscoutPath(request.path)
        if nightscout != nil {
            named = NightscoutPath.mapping
        } else {
            named = try Self.mapping(request.path)
            mapping = named
        }
        try check(mappings)
        let method = nightscout?.method ?? "POST"
        guard request.method == method else {
            var decline = HTTPDecline(405, "methodNotAllowed", "use \(method)")
            decline.reply.fields = [.init(name: "Allow", value: method)]
            throw decline
        }
        fixedReply = nightscout?.fixedReply
        guard fixedReply == nil else { return }
        guard head.body == .chunked || !request.values(of: "content-length").isEmpty else {
            throw HTTPDecline(411, "lengthRequired", "state Content-Length, or send chunks")
        }
        if Self.isHub(request.path) {
            form = try Self.hubForm(request)
            answer = .created
        } else {
            form = try Self.isLines(request) ? .lines : .documents
            if nightscout != nil { answer = .objects }
        }
        if try Self.asksForItems(request) {
            guard answer == .report else { throw Self.noResultsHere }
            answer = .items
        }
        compression = try Self.compression(request)
    }

    /// The mapping that `path` names.
    private static func mapping(_ path: String) throws(HTTPDecline) -> IdentifierText? {
        guard path != Self.path, !isHub(path) else { return nil }
        guard path.hasPrefix(Self.path + "/") else { throw HTTPDecline(404, "notFound", "post to \(Self.path)") }
        return IdentifierText(String(path.dropFirst(Self.path.count + 1)))
    }

    /// Refuses a body for another mapping than `mappings`, those of the source that its sender may use.
    ///
    /// - Throws: ``HTTPDecline`` with status 404.
    func check(_ mappings: [IdentifierText]) throws(HTTPDecline) {
        guard let named, !mappings.contains(named) else { return }
        throw HTTPDecline(404, "mappingNotFound", "the source has no mapping of that name")
    }

    private static let noResultsHere = HTTPDecline(
        400, "badRequest", "results is not supported at this path; use \(path) or \(path)/NAME")

    /// Whether the query of `request` asks what became of each line or object. What else a query says is passed over.
    private static func asksForItems(_ request: ReceivedRequest) throws(HTTPDecline) -> Bool {
        guard !request.query.isEmpty else { return false }
        let wishes = request.query.split(separator: "&").filter { $0 == "results" || $0.hasPrefix("results=") }
        guard !wishes.isEmpty else { return false }
        guard wishes == ["results=items"] else {
            throw HTTPDecline(400, "badRequest", "query parameter results: expected results=items, once")
        }
        return true
    }

    /// Whether `path` is where clients of Azure Event Hubs post to, below any name of a hub.
    private static func isHub(_ path: String) -> Bool {
        guard path.hasSuffix("/messages") else { return false }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].isEmpty && !parts[1].isEmpty && parts[2] == "messages"
    }

    /// How a body is divided that is for a hub: several events by their own type, or one event of any other.
    private static func hubForm(_ request: ReceivedRequest) throws(HTTPDecline) -> Form {
        let types = request.values(of: "content-type").map { $0.lowercased() }
        guard types.count <= 1 else {
            throw HTTPDecline(415, "unsupportedMediaType", "name one Content-Type")
        }
        let isBatch = types.first?.hasPrefix("application/vnd.microsoft.servicebus.json") ?? false
        return isBatch ? .events : .documents
    }

    private static func isLines(_ request: ReceivedRequest) throws(HTTPDecline) -> Bool {
        let types = request.values(of: "content-type")
        guard let text = types.first?.lowercased() else { return false }
        // What nearly all senders write needs no taking apart.
        if types == ["application/x-ndjson"] { return true }
        let parts = text.split(separator: ";").map { part in
            String(part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
        }
        let type = parts.first ?? ""
        let isText = parts.dropFirst().allSatisfy {
            !$0.hasPrefix("charset=") || ["charset=utf-8", "charset=\"utf-8\""].contains($0)
        }
        let isLines = ["application/x-ndjson", "application/ndjson", "application/jsonl"].contains(type)
        let isDocument = type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
        guard types.count == 1, isText, isLines || isDocument else {
            throw HTTPDecline(
                415, "unsupportedMediaType", "send application/json or application/x-ndjson, in UTF-8")
        }
        return isLines
    }

    private static func compression(_ request: ReceivedRequest) throws(HTTPDecline) -> CompressionFormat? {
        switch request.elements(of: "content-encoding") {
        case [], ["identity"]: return nil
        case ["gzip"], ["x-gzip"]: return .gzip
        case ["zstd"]: return .zstd
        default: throw HTTPDecline(415, "unsupportedEncoding", "send it as it is, or as gzip or zstd")
        }
    }

    /// `body` decompressed, with room behind it for scanning.
    ///
    /// - Throws: ``HTTPDecline`` when it is damaged, or too large.
    func decoded(_ body: ArraySlice<UInt8>) throws(HTTPDecline) -> ByteWriter {
        var output = ByteWriter(capacity: body.count + ByteView.padding)
        if let compression {
            var failure: HTTPDecline?
            body.withByteView { view in
                do throws(HTTPDecline) {
                    try Self.inflate(view, by: compression.open(), to: &output)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
        } else {
            body.withByteView { output.append($0) }
        }
        output.pad(by: ByteView.padding)
        return output
    }

    private static func inflate(
        _ body: ByteView, by input: any CompressedInput, to output: inout ByteWriter
    ) throws(HTTPDecline) {
        let most = min(mostInflated, max(mostOfAny, body.count * ratio))
        var (position, isFull) = (0, false)
        while position < body.count || isFull {
            let before = output.count
            do {
                try input.decompress(body, from: &position, to: &output, room: chunkBytes)
            } catch {
                throw HTTPDecline(400, "damagedBody", "the compressed body is damaged")
            }
            isFull = output.count - before == chunkBytes
            guard output.count <= most else {
                throw HTTPDecline(
                    413, "bodyTooLarge", "the body may have \(mostInflated) bytes, and \(ratio) for each compressed one"
                )
            }
        }
        guard input.isComplete else { throw HTTPDecline(400, "damagedBody", "the compressed body is cut") }
    }
}
