import CFuzzer
@testable import Kymograph
@testable import KymographCore
import KymographTestKit

/// Doors that other programs reach, each of which has a protocol of its own.
extension FuzzTarget {
    static let doors = [
        FuzzTarget(name: "http", longest: 2_048, run: requests),
        FuzzTarget(name: "http-ingest", longest: 4_096) { bytes in
            splits(bytes, cap: 1 << 20) { .requests(HTTPIngestProtocol(HeldBytes())) }
        },
        FuzzTarget(name: "mllp", longest: 2_048) { bytes in
            splits(bytes, cap: 512) { .acknowledged(MLLPProtocol(HeldBytes(), cap: 512)) }
        },
        FuzzTarget(name: "hl7", longest: 2_048, run: message),
        FuzzTarget(name: "mqtt", longest: 1_024, run: broker),
        FuzzTarget(name: "proxy", longest: 256, run: proxy),
        FuzzTarget(name: "sealed", longest: 1_024, run: sealed),
        FuzzTarget(name: "dtls", longest: 1_024, run: datagramTLS),
        FuzzTarget(name: "record", longest: 1_024, run: record),
    ]

    // MARK: HTTP

    /// Requests are the same whatever the pieces.
    private static func requests(_ bytes: [UInt8]) {
        var limits = HTTPLimits()
        (limits.headBytes, limits.bodyBytes, limits.fields) = (1_024, 512, 20)
        let size = 1 + bytes.count % 37
        let read = Cuts.all(bytes, size: size).map { RequestReading($0, limits) }
        for other in read {
            demand(other == read[0], "in pieces of \(size) bytes: \(other), as a whole: \(read[0])")
        }
    }

    // MARK: Kafka

    /// A record with headers becomes an event whose body is the value and whose properties are the headers, or nothing
    /// does: a letter for the encoding, up to three headers as `name=value`, a line each, and the value.
    private static func record(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var envelope = RecordEnvelope(input.choice(of: [HeaderEncoding.text, .amqp]), longest: 1 << 20)
        var record = TopicRecord()
        for _ in 0..<input.choice(4) {
            var line = FuzzInput(input.part())
            record.headers?.append(RecordHeader(name: line.part(upTo: "="), value: line.rest))
        }
        let value = input.rest
        record.value = value
        switch envelope.content(of: record) {
        case .nothing: demand(false, "a value is lost")
        case .unfit(let letter): demand(letter == value, "another letter: \(letter)")
        case .payload(let payload):
            guard let event = try? JSONTree(parsing: payload) else {
                return demand(false, "no JSON: \(String(decoding: payload, as: UTF8.self))")
            }
            let line = value.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
            let head = Array("{\"Body\":".utf8) + line + Array(",\"Properties\":{".utf8)
            demand(payload.starts(with: head), "another body: \(String(decoding: payload, as: UTF8.self))")
            demand(event["SystemProperties"] != nil, "no properties: \(String(decoding: payload, as: UTF8.self))")
        }
    }

    // MARK: HL7

    /// Documents are JSON, and what is refused is refused again when its letter comes.
    private static func message(_ bytes: [UInt8]) {
        let reading = MessageReading(bytes)
        for document in reading.documents {
            demand((try? JSONTree(parsing: document)) != nil, "no JSON: \(String(decoding: document, as: UTF8.self))")
        }
        for (reason, letter) in reading.refused.prefix(8) {
            let again = MessageReading(letter)
            let isSame = again.failure == nil && again.documents.isEmpty && again.refused.map(\.reason).contains(reason)
            demand(isSame, "\(reason): \(String(decoding: letter, as: UTF8.self)) gives \(again)")
        }
    }

    // MARK: MQTT

    /// What a broker sends gives the same packets whatever the pieces, and the same messages.
    private static func broker(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let version = input.choice(of: [MQTTVersion.v5, .v311])
        let topic = input.choice(of: ["w/{device}", "#", "{patient}/+/{device}"])
        let rest = input.rest
        let size = 1 + rest.count % 23
        let read = Cuts.all(rest, size: size).map { PacketReading($0, version) }
        for other in read { demand(other == read[0], "in pieces of \(size) bytes: \(other), as a whole: \(read[0])") }
        var settings = MQTTSettings()
        settings.version = version
        settings.topics = [topic].compactMap { try? TopicFilter(parsing: $0) }
        for pieces in Cuts.all(rest, size: size) {
            let messages = MQTTProtocol(settings, clientID: "c", longest: 200)
            _ = try? messages.begin()
            _ = StreamReading(.messages(messages), cap: 200, pieces)
        }
    }

    // MARK: PROXY protocol

    /// A header that is complete is the same whatever the pieces, and is not read further than it goes.
    private static func proxy(_ bytes: [UInt8]) {
        var header = ProxyHeader()
        var place = 0
        for _ in 0...bytes.count {
            let most: Int
            switch header.step {
            case .needs(let count): most = count
            case .needsLine(let count): most = min(count, lineLength(bytes[place...]))
            case .client, .proxy, .unknown, .malformed: most = 0
            }
            guard most > 0, place + most <= bytes.count else { break }
            header.append(bytes[place..<(place + most)])
            place += most
        }
        var other = ProxyHeader()
        for byte in bytes[..<place] {
            if case .malformed = other.step { break }
            other.append([byte])
        }
        demand(other.step == header.step, "byte by byte \(other.step), in parts \(header.step)")
    }

    // MARK: Sealed datagrams

    /// A file of keys up to an empty line, and a datagram behind it. Nothing is opened that no key has sealed, and its bytes
    /// are left as they are.
    private static func sealed(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let (text, datagram) = (input.part(upTo: "\n\n"), input.rest)
        let isSealed = datagram.count >= 30 && datagram.starts(with: Array("K1".utf8))
        demand((datagram.withByteView { SealedHead($0) } != nil) == isSealed, "the head of \(datagram)")
        let file = Descriptor(StoreSeal.memoryFile(text))
        do throws(SecretFault) {
            let keys = try DatagramKeys(file, "keys")
            for (place, key) in keys.all.enumerated() {
                demand(keys.place(of: key.id) == place, "the key \(key.id) is at \(keys.place(of: key.id) ?? -1)")
                demand(!key.name.isEmpty && !key.name.contains(","), "a key is called '\(key.name)'")
                var copy = datagram
                let isOpened = unsafe copy.withUnsafeMutableBufferPointer { bytes in
                    // Safe: the array is lent for the call.
                    unsafe bytes.baseAddress.map { unsafe keys.open($0, count: bytes.count, by: place) } ?? false
                }
                demand(!isOpened && copy == datagram, "\(datagram) is opened, or changed")
            }
        } catch {
            demand(error.message.hasPrefix("keys"), "\(error.message)")
        }
    }

    // MARK: DTLS

    /// A letter for how far the handshake has come, and datagrams with an empty line between two, that a stranger sends
    /// in the client's name. Without its key they open no association, give no payload, end none that is established,
    /// and the client's own record is read behind them.
    private static func datagramTLS(_ bytes: [UInt8]) {
        /// Safe: texts that the C part has, and that never go.
        func require(_ fault: UnsafePointer<CChar>?) {
            unsafe demand(fault == nil, fault.map { unsafe String(cString: $0) } ?? "")
        }
        var input = FuzzInput(bytes)
        let stages = [fuzz_dtls_listening, fuzz_dtls_shaking, fuzz_dtls_established]
        unsafe require(fuzz_dtls_begin(input.choice(of: stages)))
        for _ in 0..<8 {
            let datagram = input.part(upTo: "\n\n")
            guard !datagram.isEmpty else { break }
            // Safe: a copy, which is lent for the call.
            unsafe require(fuzz_dtls_give(datagram, datagram.count))
        }
        unsafe require(fuzz_dtls_end())
    }

    private static func lineLength(_ bytes: ArraySlice<UInt8>) -> Int {
        (bytes.firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.endIndex) - bytes.startIndex
    }
}

/// The requests in the bytes of a connection.
private struct RequestReading: Equatable {
    private var requests: [String] = []
    private var isRefused = false

    init(_ pieces: [[UInt8]], _ limits: HTTPLimits) {
        var reader = HTTPRequestReader(limits)
        for piece in pieces where !isRefused {
            reader.append(piece)
            while !isRefused, take(reader.next()) {}
            demand(reader.heldBytes <= 2 * limits.headBytes + limits.bodyBytes + piece.count, "it keeps too much")
        }
    }

    /// Whether there may be more.
    private mutating func take(_ step: HTTPRequestReader.Step) -> Bool {
        switch step {
        case .needsMore, .awaitsContinue: return false
        case .head: break
        case .request(let request):
            let fields = request.fields.map { "\($0.name): \($0.value)" }
            requests.append("\(request.method) \(request.path) \(request.query) \(fields) \(request.body)")
        case .refused(let refusal):
            demand((400..<600).contains(refusal.status), "status \(refusal.status)")
            isRefused = true
        }
        return true
    }
}

/// What became of a message.
private struct MessageReading {
    var documents: [[UInt8]] = []
    var refused: [(reason: Rejection, letter: [UInt8])] = []
    var failure: Rejection?

    init(_ message: [UInt8]) {
        let reader = HL7Reader(HL7Needs(names: [], all: true))
        let storage = PaddedBytes(copying: message)
        do throws(ScanFailure) {
            try reader.begin(storage.view)
            while reader.nextGroup() {
                if reader.document.count > 0 { documents.append(reader.document.array) }
                for index in 0..<reader.refusalCount {
                    let refusal = reader.refusal(index)
                    refused.append((refusal.reason, reader.letter(of: refusal.result).array))
                }
            }
        } catch {
            failure = error.reason
        }
        reader.finish()
    }
}

/// The packets in the bytes of a connection to a broker.
private struct PacketReading: Equatable {
    private var packets: [String] = []

    init(_ pieces: [[UInt8]], _ version: MQTTVersion) {
        var framer = MQTTFramer(longest: 64)
        for piece in pieces {
            let storage = PaddedBytes(copying: piece)
            var rest = storage.view
            do throws(MQTTFault) {
                while let step = try framer.next(&rest) { packets.append(try Self.text(step, version)) }
            } catch {
                packets.append("fault")
                return
            }
        }
    }

    private static func text(_ step: MQTTFramer.Step, _ version: MQTTVersion) throws(MQTTFault) -> String {
        switch step {
        case .packet(let head, let bytes): text(try MQTTPacket(head, bytes[head.count..<bytes.count], version))
        case .tooLong(let head, let bytes):
            "too long: \(text(try MQTTPacket(head, bytes[head.count..<bytes.count], version)).utf8.count)"
        }
    }

    private static func text(_ packet: MQTTPacket) -> String {
        guard case .publish(let message) = packet else { return "\(packet)" }
        return "\(message.quality) \(message.number) \(message.topic.array) \(message.payload.array)"
    }
}
