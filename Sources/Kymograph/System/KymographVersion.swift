import CZstd

/// What this is.
package enum KymographVersion {
    /// Version of Kymograph (semantic versioning).
    package static let number = "0.1.0"

    /// Version, compiler, and the libraries it runs with, in one line.
    package static var text: String {
        let zstd = ZSTD_versionNumber()
        return "\(number) (Swift \(compiler), zstd \(zstd / 10_000).\(zstd / 100 % 100).\(zstd % 100), FHIR R4)"
    }

    private static var compiler: String {
        #if swift(>=6.4)
        "6.4 or newer"
        #elseif swift(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }
}
