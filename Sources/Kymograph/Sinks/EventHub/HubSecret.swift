import Glibc

/// Where the connection string of an event hub is.
package enum HubSecret: Hashable, Sendable {
    /// In a file that only its owner reads.
    case file(SecretFile)
    /// In a variable of the environment.
    case variable(String)

    /// The connection string as it is now, with what tells the file's state from another.
    ///
    /// - Throws: ``SecretFault`` that says what is wrong, and has nothing of the string.
    func read() throws(SecretFault) -> (value: ConnectionString, stamp: SecretFile.Stamp?) {
        switch self {
        case .file(let file):
            let (line, stamp) = try file.line()
            do throws(ConnectionString.Fault) {
                return (try ConnectionString(line), stamp)
            } catch {
                throw file.failure(error.description)
            }
        case .variable(let name):
            // Safe: Swift lends the name as a C string for the call, and the value is copied.
            guard let text = unsafe getenv(name).map({ unsafe String(cString: $0) }), !text.isEmpty else {
                throw SecretFault(isRetriable: false, message: "\(name) is not set; set it to the connection string")
            }
            // As a file may end, and nothing else that would be a part of the key.
            let line = text.hasSuffix("\n") ? String(text.dropLast()) : text
            guard line.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw SecretFault(isRetriable: false, message: "\(name) must hold one line of text")
            }
            do throws(ConnectionString.Fault) {
                return (try ConnectionString(line), nil)
            } catch {
                throw SecretFault(isRetriable: false, message: "\(name) \(error.description)")
            }
        }
    }

    /// The file's state; nil for a variable, which stays what it is.
    var stamp: SecretFile.Stamp? {
        guard case .file(let file) = self else { return nil }
        return file.stamp
    }
}
