import Synchronization

/// How a broker is reached by TLS.
package final class BrokerTLS: Sendable {
    /// As its certificate must name it.
    let server: TLSServer
    let files: TLSClientFiles
    /// What the files gave; nil until they could be read.
    private let read = Mutex<RenewedTLS?>(nil)

    /// The broker at `address`, as the configuration has it, with the files of `tls`.
    init(_ address: NetworkAddress, _ tls: SourceTLS) {
        files = tls.clientFiles
        server = TLSServer(address.host, isNumeric: address.isNumeric, files)
    }

    /// When the first certificate ends that the broker is shown, in seconds since 1970; nil without any.
    var expiry: Double? { files.certificate == nil ? nil : (try? renewed())?.renewedExpiry() }

    /// A connection at `descriptor`, which stays the caller's. `note` hears of files that were read again, or cannot
    /// be: what was read before stays in use then.
    ///
    /// - Throws: ``TLSFault`` when a file cannot be used, and never could.
    func connection(_ descriptor: Int32, note: (String) -> Void) throws(TLSFault) -> TLSConnection {
        guard let connection = try renewed().current(note: note).connect(descriptor, to: server) else {
            throw TLSFault(message: "the host \(server.host) cannot be looked for in a certificate")
        }
        return connection
    }

    /// What the files gave, read now if they could not be read before.
    private func renewed() throws(TLSFault) -> RenewedTLS {
        let result: Result<RenewedTLS, TLSFault> = read.withLock { read in
            do throws(TLSFault) {
                if let read { return .success(read) }
                let renewed = try RenewedTLS(files)
                read = renewed
                return .success(renewed)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
