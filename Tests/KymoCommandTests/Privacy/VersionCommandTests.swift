import CKymographLinux
import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// `kymo version`: what is loaded, as the system itself says it.
@Suite struct VersionCommandTests {
    @Test func namesWhatIsLoaded() throws {
        let short = try Kymo.run(["version"])
        let flag = try Kymo.run(["--version"])
        #expect(short.end == .exit(0) && short.text == flag.text)
        let json = try JSONTree(parsing: try Kymo.run(["version", "--format", "json"]).output)
        #expect(
            short.text.hasPrefix("kymo \(json["version"]?.text ?? "none") (commit \(json["commit"]?.text ?? "none"), "))
        let libraries = json["libraries"]?.elements ?? []
        let versions = libraries.reduce(into: [String: String]()) { $0[$1["name"]?.text ?? ""] = $1["version"]?.text }
        #expect(
            versions.keys.sorted() == ["glibc", "libcurl", "libpq", "librdkafka", "openssl", "sqlite", "zlib", "zstd"])
        let text = try Kymo.run(["version", "--verbose"]).lines
        for (name, version) in versions { #expect(text.contains("\(name) \(version)"), "\(name)") }
        let landlock = kymo_landlock_version()
        #expect(text.last == (landlock > 0 ? "landlock \(landlock)" : "landlock not in this kernel"))
        // By another program that loads the same files.
        let script = """
            import ctypes, os, sqlite3, zlib
            curl = ctypes.CDLL("libcurl.so.4").curl_version
            curl.restype = ctypes.c_char_p
            crypto = ctypes.CDLL("libcrypto.so.3").OpenSSL_version
            crypto.restype = ctypes.c_char_p
            postgres = ctypes.CDLL("libpq.so.5").PQlibVersion()
            print("libpq", f"{postgres // 10000}.{postgres % 10000}")
            kafka = ctypes.CDLL("librdkafka.so.1").rd_kafka_version_str
            kafka.restype = ctypes.c_char_p
            print("librdkafka", kafka().decode())
            print("openssl", crypto(6).decode())
            print("sqlite", sqlite3.sqlite_version)
            print("zlib", zlib.ZLIB_RUNTIME_VERSION)
            print("libcurl", curl().decode().split()[0].split("/")[1])
            print("glibc", os.confstr("CS_GNU_LIBC_VERSION").split()[1])
            """
        let asked = try ChildProcess("/usr/bin/python3", ["-c", script]).finish()
        #expect(asked.end == .exit(0), "\(asked.error)")
        for line in asked.lines { #expect(text.contains(line), "\(line) is not in \(text)") }
    }
}
