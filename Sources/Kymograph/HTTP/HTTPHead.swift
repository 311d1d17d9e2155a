/// The request line and header of a request, and how long its body is.
///
/// Only one way to read them is accepted. Two programs that read one request differently, a proxy and this one, could
/// be made to see different requests (request smuggling): what RFC 9112 lets a receiver guess or repair is refused.
/// That is line ends without a carriage return, folded lines, blanks before the colon, several lengths, a length
/// besides chunks, codings besides `chunked`, and several hosts.
struct HTTPHead {
    /// How the body's end is found.
    enum Body: Equatable {
        case length(Int)
        case chunked
    }

    /// The field that says how long the body is, in lower case.
    static let lengthName = "content-length"

    private(set) var request: ReceivedRequest
    private(set) var body = Body.length(0)
    /// Whether the client waits for a word before it sends the body.
    private(set) var expectsContinue = false
    /// Whether all but the length is as in the request before.
    private(set) var isRepeated = false

    /// Reads `bytes`, which end with an empty line.
    ///
    /// - Throws: ``HTTPRefusal`` for anything that is not a request of HTTP/1.0 or 1.1, or beyond `limits`.
    init(_ bytes: ArraySlice<UInt8>, _ limits: HTTPLimits) throws(HTTPRefusal) {
        guard let end = try HTTPLine.end(in: bytes) else { throw .malformed("it has no request line") }
        request = try Self.requestLine(bytes[..<(end - 2)])
        request.fields = try Self.fields(bytes[end...], limits)
        try checkHost()
        try findBody(limits)
        try findExpectation()
    }

    /// The same head with another length of the body.
    func again(length: Int, digits: String) -> HTTPHead {
        var head = self
        (head.body, head.isRepeated) = (.length(length), true)
        for index in head.request.fields.indices where head.request.fields[index].name == Self.lengthName {
            head.request.fields[index].value = digits
        }
        return head
    }

    // MARK: Request line

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> ReceivedRequest {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(HTTPLine.isToken), !parts[1].isEmpty,
            parts[1].allSatisfy(HTTPLine.isTarget)
        else { throw .malformed("its first line is not 'METHOD target HTTP/1.1'") }
        var request = ReceivedRequest(
            method: String(decoding: parts[0], as: UTF8.self), path: "", minorVersion: try minorVersion(parts[2]))
        let target = path(String(decoding: parts[1], as: UTF8.self))
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        request.path = String(target[..<mark])
        request.query = String(target[mark...].dropFirst())
        return request
    }

    private static func minorVersion(_ text: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
        let name = Array("HTTP/".utf8)
        guard text.starts(with: name), text.count == 8 else { throw .malformed("its version is not HTTP/1.1") }
        switch Array(text.dropFirst(5)) {
        case Array("1.0".utf8): return 0
        case Array("1.1".utf8): return 1
        default: throw HTTPRefusal(status: 505, message: "only HTTP/1.0 and HTTP/1.1 are supported")
        }
    }

    /// The path of a target that is a URL, as clients of proxies send it; others as they are.
    private static func path(_ target: String) -> Substring {
        guard !target.hasPrefix("/") else { return target[...] }
        guard target.lowercased().hasPrefix("http://") || target.lowercased().hasPrefix("https://") else {
            return target[...]
        }
        let authority = target.split(separator: "//", maxSplits: 1).last ?? ""
        return authority.firstIndex(of: "/").map { authority[$0...] } ?? "/"
    }

    // MARK: Header

    /// Reads fields up to an empty line.
    ///
    /// - Throws: ``HTTPRefusal`` when one is not well-formed, or there are too many.
    static func fields(
        _ bytes: ArraySlice<UInt8>, _ limits: HTTPLimits
    ) throws(HTTPRefusal) -> [ReceivedRequest.Field] {
        var fields: [ReceivedRequest.Field] = []
        var rest = bytes
        while let end = try HTTPLine.end(in: rest) {
            let line = rest[..<(end - 2)]
            rest = rest[end...]
            if line.isEmpty { break }
            guard fields.count < limits.fields else {
                throw HTTPRefusal(status: 431, message: "it has more than \(limits.fields) fields")
            }
            fields.append(try field(line))
        }
        return fields
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> ReceivedRequest.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(HTTPLine.isToken)
        else { throw .malformed("a field has no name, or one with blanks or other characters that are not allowed") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy(HTTPLine.isValue) else {
            throw .malformed("the value of a field has control characters")
        }
        return ReceivedRequest.Field(
            name: String(decoding: line[..<colon], as: UTF8.self).lowercased(),
            value: String(decoding: HTTPLine.trimmed(value), as: UTF8.self))
    }

    private func checkHost() throws(HTTPRefusal) {
        let hosts = request.values(of: "host").count
        guard hosts == 1 || hosts == 0 && request.minorVersion == 0 else {
            throw .malformed("it has \(hosts) Host fields, not one")
        }
    }

    private mutating func findExpectation() throws(HTTPRefusal) {
        let expected = request.elements(of: "expect")
        guard request.minorVersion > 0, !expected.isEmpty else { return }
        guard expected == ["100-continue"] else {
            throw HTTPRefusal(status: 417, message: "only 100-continue can be expected")
        }
        expectsContinue = true
    }

    // MARK: Length of the body

    private mutating func findBody(_ limits: HTTPLimits) throws(HTTPRefusal) {
        let codings = request.values(of: "transfer-encoding")
        let lengths = request.values(of: Self.lengthName)
        guard codings.isEmpty else {
            guard lengths.isEmpty, codings.count == 1, request.minorVersion > 0 else {
                throw .malformed("its length is stated in several ways, or in chunks by HTTP/1.0")
            }
            guard codings[0].lowercased() == "chunked" else {
                throw HTTPRefusal(status: 501, message: "only the transfer coding chunked is supported")
            }
            return body = .chunked
        }
        guard lengths.count <= 1 else { throw .malformed("its length is stated more than once") }
        guard let text = lengths.first else { return }
        guard !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(text)
        else { throw .malformed("its Content-Length is not a number of at most 18 digits") }
        guard length <= limits.bodyBytes else { throw .tooLarge(limits) }
        body = .length(length)
    }
}

extension HTTPRefusal {
    /// A body beyond the limit (413).
    static func tooLarge(_ limits: HTTPLimits) -> HTTPRefusal {
        HTTPRefusal(status: 413, message: "its body has more than \(limits.bodyBytes) bytes")
    }
}
