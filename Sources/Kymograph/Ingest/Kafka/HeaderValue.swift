import KymographCore

/// How values of headers are written.
package enum HeaderEncoding: Hashable, Sendable {
    /// As text in UTF-8, as most clients of Kafka do.
    case text
    /// As values of AMQP, as Event Hubs gives what came by AMQP, from an IoT Hub too; or as text.
    case amqp
}

/// What the value of a header is.
enum HeaderValue: Equatable {
    /// A value, written as JSON.
    case json([UInt8])
    /// Bytes that are no text, or may be read in two ways.
    case unclear

    /// Reads `value` of the header `name`.
    init(_ value: [UInt8]?, of name: PropertyName, encoding: HeaderEncoding) {
        guard let value else {
            self = .json(Array("null".utf8))
            return
        }
        switch encoding {
        case .text: self = value.withByteView { $0.isUTF8 } ? Self.text(value) : .unclear
        case .amqp: self = Self.amqp(value, of: name)
        }
    }

    /// A value of AMQP, or text as Event Hubs gives properties that AMQP itself has, and clients of Kafka their own.
    ///
    /// Text never begins with a code from 0x80 on. Before that it may be both: "S1" would be the number 49.
    private static func amqp(_ value: [UInt8], of name: PropertyName) -> HeaderValue {
        let isText = value.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && value.withByteView { $0.isUTF8 }
        if isText, name.isTextOfAMQP { return text(value) }
        guard let found = AMQPValue(value) else { return isText ? text(value) : .unclear }
        return isText ? .unclear : json(found)
    }

    private static func json(_ value: AMQPValue) -> HeaderValue {
        switch value {
        case .null: .json(Array("null".utf8))
        case .flag(let flag): .json(Array("\(flag)".utf8))
        case .integer(let digits): .json(Array(digits.utf8))
        case .real(let digits): .json(Array(digits.utf8))
        case .time(let milliseconds): time(milliseconds).map { .json($0) } ?? .unclear
        case .text(let bytes): text(bytes)
        case .opaque: .unclear
        }
    }

    private static func text(_ bytes: [UInt8]) -> HeaderValue {
        var writer = ByteWriter(capacity: bytes.count + 2)
        writer.append("\"")
        writer.appendJSON(bytes)
        writer.append("\"")
        return .json(writer.view.array)
    }

    /// A time as JSON; nil for one that no reading can have.
    static func time(_ milliseconds: Int64) -> [UInt8]? {
        let (nanoseconds, isFar) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !isFar else { return nil }
        var writer = ByteWriter(capacity: 40)
        writer.append("\"")
        writer.append(Instant(nanoseconds: nanoseconds))
        writer.append("\"")
        return writer.view.array
    }
}
