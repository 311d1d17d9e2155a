import COpenSSL
import Glibc

/// By what a certificate names its owner.
enum CertificateNames {
    /// The common names and serial numbers of the subject of `certificate`, and its subject alternative names of hosts,
    /// of mail and as URI (RFC 5280, sections 4.1.2.6 and 4.2.1.6): all that there are, unreadable ones among them.
    @unsafe
    static func of(_ certificate: OpaquePointer) -> [CertificateName] {
        // Safe: the caller keeps the certificate for the call.
        unsafe subjectNames(certificate, NID_commonName, .commonName)
            + subjectNames(certificate, NID_serialNumber, .serialNumber) + alternativeNames(certificate)
    }

    /// The hosts and numeric addresses that `certificate` is for: the first `most` subject alternative names, of which
    /// those with other than printable letters are left out.
    @unsafe
    static func hosts(of certificate: OpaquePointer, most: Int32) -> [String] {
        // Safe: the caller keeps the certificate for the call, and the names live until they are freed.
        guard let names = unsafe kymo_tls_names(certificate) else { return [] }
        defer { unsafe kymo_tls_names_free(names) }
        return unsafe (0..<min(kymo_tls_name_count(names), most)).compactMap { index in
            var text = [CChar](repeating: 0, count: 256)
            let count = unsafe Int(kymo_tls_host(names, index, &text, Int32(text.count)))
            let bytes = text.prefix(count).map(UInt8.init(bitPattern:))
            guard count > 0, bytes.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @unsafe
    private static func subjectNames(
        _ certificate: OpaquePointer, _ attribute: Int32, _ kind: CertificateName.Kind
    ) -> [CertificateName] {
        var (found, place): ([CertificateName], Int32) = ([], -1)
        while true {
            // Safe: the entries belong to the certificate; the text is copied and freed.
            guard let subject = unsafe X509_get_subject_name(certificate) else { return found }
            place = unsafe X509_NAME_get_index_by_NID(subject, attribute, place)
            guard place >= 0, let entry = unsafe X509_NAME_get_entry(subject, place) else { return found }
            var text: UnsafeMutablePointer<UInt8>?
            let count = unsafe ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
            guard count >= 0, let text = unsafe text else {
                found.append(CertificateName(kind, nil))
                continue
            }
            defer { unsafe CRYPTO_free(text, "", 0) }
            found.append(
                CertificateName(kind, found: unsafe Array(UnsafeBufferPointer(start: text, count: Int(count)))))
        }
    }

    @unsafe
    private static func alternativeNames(_ certificate: OpaquePointer) -> [CertificateName] {
        guard let names = unsafe kymo_tls_names(certificate) else { return [] }
        defer { unsafe kymo_tls_names_free(names) }
        return unsafe (0..<kymo_tls_name_count(names)).compactMap { index in
            var (count, type): (Int32, Int32) = (0, 0)
            // Safe: the text belongs to the names.
            guard let text = unsafe kymo_tls_name(names, index, &count, &type), let kind = kind(type) else {
                return nil
            }
            return CertificateName(kind, found: unsafe Array(UnsafeBufferPointer(start: text, count: Int(count))))
        }
    }

    private static func kind(_ type: Int32) -> CertificateName.Kind? {
        switch type {
        case GEN_DNS: .dnsName
        case GEN_URI: .uri
        case GEN_EMAIL: .mail
        default: nil
        }
    }
}
