extension ServerAccess {
    /// Everything that is wrong, as far as it can be known without asking the server; `readingFiles` also tells
    /// whether the files are there, can be read, only by the owner where they are secret, and hold what they should.
    package func faults(readingFiles: Bool = true) -> [Fault] {
        var check = AccessCheck(access: self, readsFiles: readingFiles)
        check.checkNumbers()
        check.checkURL(url, "url")
        if url.contains("?") { check.add("url", "must end with the path; remove the question mark and what follows") }
        check.checkConnection()
        check.checkAuthorization()
        if readingFiles, let problem = CurlText.loadingProblem {
            check.add("url", "needs libcurl, which cannot be loaded: \(problem); install it (on Debian: libcurl4)")
        }
        return check.faults
    }
}

/// Collects what is wrong with a ``ServerAccess``.
private struct AccessCheck {
    let access: ServerAccess
    let readsFiles: Bool
    var faults: [ServerAccess.Fault] = []

    mutating func add(_ setting: String, _ message: String) {
        faults.append(ServerAccess.Fault(setting: setting, message: message))
    }

    // MARK: Numbers and URLs

    mutating func checkNumbers() {
        check(access.requestTimeout, in: 1...3_600_000, "requestTimeout", "milliseconds")
        check(access.http.connectTimeout, in: 1...600_000, "http.connectTimeout", "milliseconds")
        check(access.http.connectionsPerHost, in: 1...1_000, "http.connectionsPerHost", "connections")
        check(access.http.maxResponseBytes, in: 1_024...(1 << 30), "http.maxResponseBytes", "bytes")
    }

    private mutating func check(_ value: Int, in range: ClosedRange<Int>, _ setting: String, _ unit: String) {
        guard !range.contains(value) else { return }
        add(setting, "\(value) is out of range; write \(range.lowerBound) to \(range.upperBound) \(unit)")
    }

    /// Checks a URL that secrets are sent to, unless nobody asks for any.
    mutating func checkURL(_ text: String, _ setting: String) {
        do throws(ServerAccess.Fault) {
            let url = try ServerAccess.server(text, setting)
            let isSafe = url.isEncrypted || url.isLoopback || access.allowsUnencryptedSecrets
            if access.authorization != .open, !isSafe {
                add(setting, "is not encrypted, and secrets would be sent there; write https://")
            }
        } catch {
            faults.append(error)
        }
    }

    // MARK: Connection

    mutating func checkConnection() {
        if let file = access.http.caFile { checkCertificates(file, "http.caFile") }
        guard let certificate = access.http.clientCertificate else { return }
        let pem = checkCertificates(certificate.certificateFile, "http.clientCertificate.certificateFile")
        checkKey(SecretFile(certificate.keyFile), "http.clientCertificate.keyFile") { key throws(PrivateKey.Fault) in
            guard let pem, !key.belongs(toCertificate: pem) else { return }
            throw PrivateKey.Fault(description: "is not the key of the client certificate")
        }
    }

    /// Checks that a file holds certificates; returns its bytes if so.
    @discardableResult
    private mutating func checkCertificates(_ path: String, _ setting: String) -> [UInt8]? {
        guard readsFiles else { return nil }
        guard let bytes = FileSystem.content(path) else {
            add(setting, "\(path) cannot be read")
            return nil
        }
        guard PEMInput(bytes)?.certificateCount() ?? 0 > 0 else {
            add(setting, "\(path) holds no certificate in PEM form")
            return nil
        }
        return bytes
    }

    // MARK: Authorization

    mutating func checkAuthorization() {
        switch access.authorization {
        case .open: break
        case .bearer(let file): checkLine(.bearer, file, "authorization.tokenFile")
        case .basic(let user, let file):
            // The first colon ends the name (RFC 7617, section 2).
            if user.isEmpty || user.contains(":") { add("authorization.user", "must not be empty or contain a colon") }
            checkLine(.basic(user: user), file, "authorization.passwordFile")
        case .oauth(let client): checkClient(client)
        }
    }

    private mutating func checkClient(_ client: OAuthClient) {
        if client.identifier.isEmpty { add("authorization.client", "must not be empty") }
        if let url = client.tokenURL { checkURL(url, "authorization.tokenURL") }
        switch client.proof {
        case .secret(let file, _): checkLine(nil, file, "authorization.secretFile")
        case .signature(let file, let identifier):
            if client.scope.isEmpty { add("authorization.scope", "must not be empty; such as system/Observation.cu") }
            if identifier.isEmpty { add("authorization.keyIdentifier", "must not be empty; write the key's kid") }
            checkKey(file, "authorization.keyFile") { key throws(PrivateKey.Fault) in _ = try key.algorithm() }
        }
    }

    private mutating func checkLine(_ scheme: SecretFileAuthorizer.Scheme?, _ file: SecretFile, _ setting: String) {
        guard readsFiles else { return }
        do throws(SecretFault) {
            let (line, _) = try file.line()
            if let scheme { _ = try SecretFileAuthorizer.value(of: line, scheme, file) }
        } catch {
            add(setting, error.message)
        }
    }

    /// Checks that a file holds a private key that is fit for its purpose.
    private mutating func checkKey(
        _ file: SecretFile, _ setting: String,
        _ checkPurpose: (borrowing PrivateKey) throws(PrivateKey.Fault) -> Void
    ) {
        guard readsFiles else { return }
        do throws(SecretFault) {
            let (pem, _) = try file.bytes()
            do throws(PrivateKey.Fault) {
                try checkPurpose(try PrivateKey(pem: pem))
            } catch {
                throw file.failure(error.description)
            }
        } catch {
            add(setting, error.message)
        }
    }
}
