import CCurl
import CKafka
import CKymographLinux
import COpenSSL
import CPostgres
import CSQLite
import CZlib
import CZstd

/// Versions of this program and of the system's libraries, as they are loaded in this process: a system is patched
/// after the program was built.
package struct ProgramVersions: Encodable {
    /// A library of the system.
    package struct Library: Encodable {
        /// The project's name for it.
        package var name: String
        /// What the library says that it is; nil when it cannot be loaded.
        package var version: String?
        /// Why it cannot be loaded.
        package var problem: String?
    }

    /// Version of Kymograph.
    package var version = KymographVersion.number
    /// The commit that it was built from.
    package var commit = KymographVersion.commit
    /// The compiler's version.
    package var swift = KymographVersion.compiler
    /// In the order of their names.
    package var libraries: [Library]
    /// The version of Landlock in the kernel (``Sandbox``); nil without any.
    package var landlock = Sandbox.version

    /// Asks each library. Loads libcurl, libpq and librdkafka, as sinks would.
    package init() {
        // Safe: each is a constant text of the library's.
        libraries = unsafe [
            Library(name: "glibc", version: String(cString: kymo_libc_version())),
            ProgramVersions.curl,
            ProgramVersions.postgres, ProgramVersions.kafka,
            Library(name: "openssl", version: String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))),
            Library(name: "sqlite", version: String(cString: sqlite3_libversion())),
            Library(name: "zlib", version: String(cString: zlibVersion())),
            Library(name: "zstd", version: String(cString: ZSTD_versionString())),
        ].compactMap { $0 }
    }

    /// One line for each, `name version`.
    package var text: String {
        let rows =
            [("kymo", version), ("commit", commit), ("swift", swift)]
            + libraries.map { ($0.name, $0.version ?? "cannot be loaded: \($0.problem ?? "unknown")") }
            + [("landlock", landlock.map { "\($0)" } ?? "not in this kernel")]
        return rows.map { "\($0) \($1)\n" }.joined()
    }

    /// Nil where it is not installed: only sinks that are topics need it.
    private static var kafka: Library? {
        // Safe: only whether there is a text is looked at.
        guard unsafe kymo_kafka_load() == nil else { return nil }
        // Safe: the text lives as long as the library.
        return Library(name: "librdkafka", version: unsafe String(cString: kymo_kafka_version()))
    }

    /// Nil where it is not installed: only sinks that are databases need it.
    private static var postgres: Library? {
        // Safe: only whether there is a text is looked at.
        guard unsafe kymo_pg_load() == nil else { return nil }
        let number = kymo_pg_version()
        return Library(name: "libpq", version: "\(number / 10_000).\(number % 10_000)")
    }

    /// `libcurl/7.88.1 OpenSSL/3.0.17 …` is what it says.
    private static var curl: Library {
        // Safe: a constant text of the shim's, and one of the library's.
        if let problem = unsafe kymo_curl_load() {
            return unsafe Library(name: "libcurl", problem: String(cString: problem))
        }
        let words = unsafe String(cString: kymo_curl_version()).split(separator: " ")
        return Library(name: "libcurl", version: words.first.map { String($0.drop { $0 != "/" }.dropFirst()) })
    }
}
