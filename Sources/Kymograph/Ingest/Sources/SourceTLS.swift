import Glibc

/// What a configuration says of the TLS of a source.
package struct SourceTLS: Hashable, Sendable {
    /// The certificate of this side, and those between it and an authority; nil for none, and so of a listener for no
    /// TLS.
    package var certificateFile: String?
    /// Its key; nil when it is in the same file.
    package var keyFile: String?
    /// Authorities one of which must have signed a client's certificate.
    package var clientCAFile: String?
    /// Lists of certificates that they have revoked.
    package var clientCRLFile: String?

    /// Pre-shared keys of clients of DTLS.
    package var pskFile: String?
    /// Whether they may use AES-CCM with tags of 8 bytes.
    package var allowsShortTags = false

    /// Keys of sealed datagrams, in place of DTLS.
    package var sealedKeyFile: String?

    /// Authorities that a broker's certificate must be of; nil for those of the system.
    package var caFile: String?
    /// Lists of certificates that these have revoked.
    package var crlFile: String?

    /// The files of a listener; nil without TLS.
    var files: TLSFiles? {
        guard let certificateFile else { return nil }
        var files = TLSFiles(certificate: certificateFile, key: keyFile ?? certificateFile)
        (files.clientAuthorities, files.revoked) = (clientCAFile, clientCRLFile)
        return files
    }

    /// The files of a UDP socket; nil without DTLS.
    var datagramFiles: DatagramTLSFiles? {
        guard certificateFile ?? pskFile != nil else { return nil }
        var files = DatagramTLSFiles()
        (files.certificate, files.key) = (certificateFile, keyFile)
        (files.clientAuthorities, files.revoked) = (clientCAFile, clientCRLFile)
        (files.keys, files.allowsShortTags) = (pskFile, allowsShortTags)
        return files
    }

    /// The files of a client.
    var clientFiles: TLSClientFiles {
        var files = TLSClientFiles()
        (files.authorities, files.certificate, files.key, files.revoked) = (caFile, certificateFile, keyFile, crlFile)
        return files
    }

    /// What does not go together at a listener.
    var problem: SettingProblem? {
        if certificateFile == nil, keyFile ?? clientCAFile ?? clientCRLFile != nil {
            return SettingProblem(
                message: "without certificateFile there is no TLS, and certificateKeyFile, clientCAFile and "
                    + "clientCRLFile have no effect", advice: "name the server's certificate as certificateFile")
        }
        guard clientCRLFile != nil, clientCAFile == nil else { return nil }
        return SettingProblem(
            message: "clientCRLFile has no effect without clientCAFile",
            advice: "name the authorities of the clients' certificates as clientCAFile")
    }

    /// What does not go together at a UDP socket.
    var datagramProblem: SettingProblem? {
        if sealedKeyFile != nil, certificateFile ?? pskFile != nil {
            return SettingProblem(
                message: "sealedKeyFile stands beside certificateFile or pskFile, and a source takes either sealed "
                    + "datagrams or DTLS", advice: "give each a udp source of its own")
        }
        if allowsShortTags, pskFile == nil {
            return SettingProblem(
                message: "pskCCM8 has no effect without pskFile",
                advice: "name the file of pre-shared keys as pskFile, or remove it")
        }
        return problem
    }

    /// What does not go together at a broker, which is reached by TLS or not.
    func problem(ofBroker isSecure: Bool) -> SettingProblem? {
        if !isSecure, caFile ?? crlFile ?? certificateFile ?? keyFile != nil {
            return SettingProblem(
                message: "mqtt:// is not encrypted, and caFile, crlFile, certificateFile and certificateKeyFile have "
                    + "no effect",
                advice: "write mqtts://, and the broker's port for TLS")
        }
        if crlFile != nil, caFile == nil {
            return SettingProblem(
                message: "crlFile has no effect on the authorities of the system, of which it would need a list each",
                advice: "name the authority of the broker's certificate as caFile")
        }
        guard certificateFile == nil, keyFile != nil else { return nil }
        return SettingProblem(
            message: "certificateKeyFile has no effect without certificateFile",
            advice: "name the certificate that the broker is shown as certificateFile")
    }

    /// Reads the files of a UDP socket; nil without DTLS.
    ///
    /// - Throws: ``SourceError`` when one cannot be used.
    func openDatagrams(_ name: String) throws(SourceError) -> RenewedTLS? {
        guard let datagramFiles else { return nil }
        do throws(TLSFault) {
            return try RenewedTLS(datagramFiles)
        } catch {
            throw SourceError(error, of: name)
        }
    }

    /// Reads the keys of sealed datagrams; nil without any.
    ///
    /// - Throws: ``SourceError`` when they cannot be used.
    func openSealed(_ name: String) throws(SourceError) -> RenewedDatagramKeys? {
        guard let sealedKeyFile else { return nil }
        do throws(SecretFault) {
            return try RenewedDatagramKeys(sealedKeyFile)
        } catch {
            throw SourceError(error, of: name)
        }
    }

    /// Reads the files of a listener; nil without TLS.
    ///
    /// - Throws: ``SourceError`` when one cannot be used.
    func open(_ name: String) throws(SourceError) -> RenewedTLS? {
        guard let files else { return nil }
        do throws(TLSFault) {
            return try RenewedTLS(files)
        } catch {
            throw SourceError(error, of: name)
        }
    }
}

extension SourceError {
    /// What is wrong with the files of TLS of the source `name`. One that may pass is no mistake of settings: whoever
    /// starts the process starts it again.
    init(_ fault: TLSFault, of name: String) {
        self.init(kind: fault.mayPass ? .system(EKEYREJECTED) : .settings, message: "\(name): \(fault.message)")
    }

    /// What is wrong with the keys of sealed datagrams of the source `name`, as of ``init(_:of:)`` of TLS.
    init(_ fault: SecretFault, of name: String) {
        self.init(kind: fault.isRetriable ? .system(EKEYREJECTED) : .settings, message: "\(name): \(fault.message)")
    }
}
