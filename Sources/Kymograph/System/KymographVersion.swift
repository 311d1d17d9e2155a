import CKymographLinux
import CZstd

/// What this is.
package enum KymographVersion {
    /// Version of Kymograph (semantic versioning).
    package static let number = "0.1.0"

    /// The commit that it was built from, with `-dirty` behind it when files differed; `unknown` when the build was not
    /// told.
    package static let commit: String = {
        // Safe: a literal of the C compiler's.
        let text = unsafe String(cString: kymo_commit())
        return text.isEmpty ? "unknown" : text
    }()

    /// Version, commit, compiler, and the libraries it runs with, in one line.
    package static var text: String {
        let zstd = ZSTD_versionNumber()
        let zstdText = "zstd \(zstd / 10_000).\(zstd / 100 % 100).\(zstd % 100)"
        return "\(number) (commit \(commit), Swift \(compiler), \(zstdText), FHIR R4)"
    }

    /// The compiler's version.
    package static var compiler: String {
        #if swift(>=6.4)
        "6.4 or newer"
        #elseif swift(>=6.3)
        "6.3"
        #else
        "6.2"
        #endif
    }
}
