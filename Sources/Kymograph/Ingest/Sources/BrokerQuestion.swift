import CKymographLinux
import Glibc
import KymographCore

/// Asks a broker whether it would take a client: with a session of its own, that ends at once. Blocks.
struct BrokerQuestion {
    /// How long the broker has for its answer, in milliseconds, and how long to wait between two looks.
    private static let (patience, pause): (Int, Int) = (10_000, 10)

    let address: NetworkAddress
    let settings: MQTTSettings
    let mayBeRemote: Bool
    let tls: BrokerTLS?

    /// Asks each address of the host until one answers.
    ///
    /// - Throws: ``SourceError`` of the last address.
    func ask() throws(SourceError) {
        let found = address.isNumeric ? [address] : try NameLookup.find(address).get()
        let allowed = found.filter { mayBeRemote || $0.isLoopback }
        guard let last = allowed.last else { throw failure("the host is not this machine: say insecure: true") }
        for other in allowed.dropLast() where (try? ask(other)) != nil { return }
        try ask(last)
    }

    private func ask(_ address: NetworkAddress) throws(SourceError) {
        // Safe: Swift lends the host as a C string for the call.
        let raw = unsafe kymo_tcp_connect(address.host, address.port)
        guard raw >= 0 else { throw failure(ErrorText.of(-raw)) }
        let connection = Connection(descriptor: Descriptor(raw), tls: try secured(raw))
        let answer = try exchange(connection, try firstPacket())
        _ = MQTTOutput.disconnect(settings.version).withByteView { connection.send($0) }
        guard answer == 0 else {
            let words = MQTTReason.connection(answer, settings.version)
            throw SourceError(kind: .permission, message: "the broker refuses a connection: \(words)")
        }
    }

    /// The TLS of the connection `raw`; nil without.
    private func secured(_ raw: Int32) throws(SourceError) -> TLSConnection? {
        kymo_ignore_broken_pipe()
        do throws(TLSFault) {
            return try tls?.connection(raw) { _ in }
        } catch {
            throw SourceError(message: error.message)
        }
    }

    private func firstPacket() throws(SourceError) -> [UInt8] {
        let name = "kymo\(UInt32.random(in: 0...UInt32.max))"
        do throws(SecretFault) {
            return MQTTOutput.connect(settings, clientID: name, password: try settings.password(), isTrial: true)
        } catch {
            throw SourceError(kind: .permission, message: error.message)
        }
    }

    /// The code that the broker answers with.
    private func exchange(_ connection: Connection, _ packet: [UInt8]) throws(SourceError) -> UInt8 {
        var (rest, heard): (ArraySlice<UInt8>, [UInt8]) = (packet[...], [])
        for _ in 0..<(Self.patience / Self.pause) {
            let isSending = !rest.isEmpty
            let size =
                isSending ? Array(rest).withByteView { connection.send($0) } : connection.read(into: &heard)
            if isSending { rest = rest.dropFirst(max(0, size)) }
            guard size > 0 || size == -Int(EAGAIN) else { throw connection.fault.map(refusal) ?? failure(ended(size)) }
            if let code = try code(heard) { return code }
            Wait.milliseconds(Self.pause)
        }
        throw failure("it has not answered for \(Self.patience / 1_000) s")
    }

    /// The code of the answer in `bytes`; nil while it is not complete.
    private func code(_ bytes: [UInt8]) throws(SourceError) -> UInt8? {
        let result: Result<UInt8?, MQTTFault> = bytes.withByteView { view in
            do throws(MQTTFault) {
                guard let head = try MQTTHead(view), head.total <= view.count else { return .success(nil) }
                let packet = try MQTTPacket(head, view[head.count..<head.total], settings.version)
                guard case .connack(_, let code, _) = packet else {
                    throw MQTTFault("the first packet is not the answer to the connection")
                }
                return .success(code)
            } catch {
                return .failure(error)
            }
        }
        do throws(MQTTFault) { return try result.get() } catch {
            throw failure("it does not keep to MQTT: \(error.message)")
        }
    }

    private func ended(_ size: Int) -> String {
        size == 0 ? "it has closed the connection" : ErrorText.of(Int32(-size))
    }

    private func failure(_ what: String) -> SourceError {
        SourceError(kind: .missing, message: "no connection to the broker \(address.text): \(what)")
    }

    /// What does not get better by itself.
    private func refusal(_ what: String) -> SourceError {
        SourceError(kind: .permission, message: "no connection to the broker \(address.text): \(what)")
    }

    /// The connection of a question.
    private struct Connection {
        let descriptor: Descriptor
        let tls: TLSConnection?

        /// Why there is no TLS.
        var fault: String? { tls?.fault }

        /// Writes some of `bytes`; a negative errno when it took nothing.
        func send(_ bytes: ByteView) -> Int {
            guard let tls else { return FileSystem.send(descriptor.raw, bytes) }
            let code = tls.establish()
            guard code == 0 else { return code }
            let size = tls.send(bytes)
            // What it has sent before it took nothing more says why.
            var said: [UInt8] = []
            if size == -Int(EPIPE) { _ = read(into: &said) }
            return size
        }

        /// Adds what has come; how much, 0 at the end, or a negative errno.
        func read(into bytes: inout [UInt8]) -> Int {
            guard let tls else { return FileSystem.read(descriptor.raw, 1_024, into: &bytes) ?? -Int(errno) }
            var chunk = [UInt8](repeating: 0, count: 1_024)
            // Safe: the chunk has this room.
            let size = unsafe tls.read(&chunk, count: chunk.count)
            bytes += chunk.prefix(max(0, size))
            return size
        }
    }
}
