import COpenSSL
import Glibc

/// Until when certificates are valid.
enum CertificateExpiry {
    /// When the first of the certificates in `pem` ends, in seconds since 1970; nil when there is none.
    static func seconds(_ pem: [UInt8]) -> Double? {
        guard let input = PEMInput(pem) else { return nil }
        defer { ERR_clear_error() }
        var earliest: Double?
        // Safe: each certificate is ours until it is freed, and its time lives as long.
        while let certificate = unsafe PEM_read_bio_X509(input.source, nil, nil, nil) {
            defer { unsafe X509_free(certificate) }
            guard let seconds = unsafe seconds(of: certificate) else { continue }
            earliest = min(earliest ?? seconds, seconds)
        }
        return earliest
    }

    /// When `certificate` ends, in seconds since 1970; nil when its time cannot be read.
    @unsafe
    static func seconds(of certificate: OpaquePointer) -> Double? {
        var time = unsafe tm()
        // Safe: the caller's certificate lives as long as its time.
        guard unsafe ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) == 1 else { return nil }
        return unsafe Double(timegm(&time))
    }
}
