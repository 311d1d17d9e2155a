import FoundationEssentials
import Glibc

/// Reads whole inputs for the commands that look at one payload.
enum InputFile {
    /// The content of `path`, or of standard input when it is nil or `-`; nil when it cannot be read.
    static func read(_ path: String?) -> [UInt8]? {
        guard let path, path != "-" else { return readStandardInput() }
        return FileManager.default.contents(atPath: path).map { [UInt8]($0) }
    }

    /// Standard input to its end, which `FileManager` cannot read when it is a pipe.
    private static func readStandardInput() -> [UInt8]? {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Safe: the array's storage outlives the call.
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0 { return nil }
            if count == 0 { return content }
            content += chunk[..<count]
        }
    }
}

/// Writes data to standard output.
enum StandardOutput {
    /// Writes all of `bytes`.
    static func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: the slice's storage outlives the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }
}
