/// A request of a client, complete and well-formed.
struct ReceivedRequest: Sendable {
    /// A field of the header.
    struct Field: Sendable {
        /// In lower case.
        var name: String
        /// Without blanks around it.
        var value: String
    }

    /// Case matters: `GET`.
    var method: String
    /// The target's path, as it was sent: not decoded.
    var path: String
    /// What follows a question mark in the target, as it was sent.
    var query = ""
    /// 0 or 1, of HTTP/1.
    var minorVersion: Int
    /// In the order in which they came.
    var fields: [Field] = []
    /// Decoded, when it came in chunks.
    var body: ArraySlice<UInt8> = []

    /// The values of all fields called `name`, which is in lower case.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The elements of the lists in the fields called `name`, in lower case and without blanks around them.
    func elements(of name: String) -> [String] {
        values(of: name).flatMap { $0.lowercased().split(separator: ",") }.map { element in
            String(element.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
        }
    }

    /// Whether the connection may go on afterwards. HTTP/1.0 ends it: its `keep-alive` is not supported.
    var keepsConnection: Bool { minorVersion > 0 && !elements(of: "connection").contains("close") }
}

/// Why a request is not answered with what it asks for. The connection ends with it.
struct HTTPRefusal: Error, Hashable, Sendable {
    /// Status of the reply.
    var status: Int
    /// What is wrong, for whoever wrote the client. Without anything of the request.
    var message: String

    /// A request that is not well-formed (400).
    static func malformed(_ message: String) -> HTTPRefusal { HTTPRefusal(status: 400, message: message) }
}
