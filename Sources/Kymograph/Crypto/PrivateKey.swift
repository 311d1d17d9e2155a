import COpenSSL

/// A private key from a PEM file, for signing JSON Web Tokens (RFC 7518, section 3).
@safe
struct PrivateKey: ~Copyable {
    /// Why a file is no key to sign with; never with anything of the file.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// How a key signs, by its name in JSON Web Tokens.
    enum Algorithm: String {
        /// RSASSA-PKCS1-v1_5 with SHA-384.
        case rs384 = "RS384"
        /// ECDSA on P-384 with SHA-384.
        case es384 = "ES384"
    }

    private let key: OpaquePointer

    /// Reads the first private key in `pem`. OpenSSL never asks at the terminal for a password.
    init(pem: [UInt8]) throws(Fault) {
        defer { ERR_clear_error() }
        // Safe: OpenSSL copies what it reads; -1 from the callback says that there is no password.
        guard let input = PEMInput(pem),
            let key = unsafe PEM_read_bio_PrivateKey(input.source, nil, { _, _, _, _ in -1 }, nil)
        else {
            let isEncrypted = String(decoding: pem, as: UTF8.self).contains("ENCRYPTED")
            throw Fault(
                description: isEncrypted
                    ? "is encrypted; write it without a password ('openssl pkey -in … -out …') and keep its mode 0600"
                    : "holds no private key in PEM form")
        }
        unsafe self.key = key
    }

    deinit {
        // Safe: made in init and owned by this struct alone.
        unsafe EVP_PKEY_free(key)
    }

    /// How this key signs.
    ///
    /// - Throws: When it is neither RSA with at least 2,048 bits nor on P-384.
    func algorithm() throws(Fault) -> Algorithm {
        // Safe here and below: the key lives as long as this struct.
        let bits = unsafe EVP_PKEY_get_bits(key)
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            guard bits >= 2_048 else { throw Fault(description: "is an RSA key of \(bits) bits; make one of 3072") }
            return .rs384
        }
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        let isCurve =
            unsafe EVP_PKEY_is_a(key, "EC") == 1 && EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1
        let curve = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard isCurve, ["secp384r1", "P-384"].contains(curve) else {
            throw Fault(description: "is \(isCurve ? "on the curve \(curve)" : "of another kind"); use RSA or P-384")
        }
        return .es384
    }

    /// Signs `message`; ES384 as the two numbers of 48 bytes each (RFC 7518, section 3.4), not in DER.
    func signature(of message: [UInt8]) throws(Fault) -> [UInt8] {
        let algorithm = try algorithm()
        guard let signature = digestSignature(of: message) else { throw Fault(description: "does not sign") }
        guard case .es384 = algorithm else { return signature }
        guard let numbers = Self.numbers(of: signature) else { throw Fault(description: "does not sign") }
        return numbers
    }

    /// Whether the first certificate in `pem` belongs to this key.
    func belongs(toCertificate pem: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        // Safe: the certificate is ours until it is freed.
        guard let input = PEMInput(pem), let certificate = unsafe PEM_read_bio_X509(input.source, nil, nil, nil) else {
            return false
        }
        defer { unsafe X509_free(certificate) }
        return unsafe X509_check_private_key(certificate, key) == 1
    }

    /// Makes this the key of the certificate that `context` has; false when it is another one's.
    @unsafe
    func becomesKey(of context: OpaquePointer) -> Bool {
        // Safe: OpenSSL counts the key's users.
        unsafe SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
    }

    private func digestSignature(of message: [UInt8]) -> [UInt8]? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        // Safe: OpenSSL reads `count` bytes of the message and writes at most `size` of the signature.
        var size = 0
        guard unsafe EVP_DigestSignInit_ex(context, nil, "SHA384", nil, nil, key, nil) == 1,
            unsafe EVP_DigestSign(context, nil, &size, message, message.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: size)
        guard unsafe EVP_DigestSign(context, &signature, &size, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(size))
    }

    /// The two numbers of an ECDSA signature in DER, 48 bytes each.
    private static func numbers(of der: [UInt8]) -> [UInt8]? {
        unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            // Safe: OpenSSL reads `count` bytes and moves `start`; the numbers belong to the signature.
            guard let signature = unsafe d2i_ECDSA_SIG(nil, &start, bytes.count) else { return nil }
            defer { unsafe ECDSA_SIG_free(signature) }
            var numbers = [UInt8](repeating: 0, count: 96)
            let isWhole = unsafe numbers.withUnsafeMutableBufferPointer { output in
                unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), output.baseAddress, 48) == 48
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), output.baseAddress.map { unsafe $0 + 48 }, 48) == 48
            }
            return isWhole ? numbers : nil
        }
    }
}
