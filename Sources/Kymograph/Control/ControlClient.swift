import FoundationEssentials

/// Asks the instance that uses a data directory.
package enum ControlClient {
    /// Whether an instance answers in `directory`.
    package static func isRunning(_ directory: String) -> Bool { ControlSocket.connect(directory) != nil }

    /// Sends a request; nil when no instance uses `directory`, or it does not answer. `milliseconds` is the longest
    /// wait for a part of the answer.
    package static func ask(
        _ request: ControlRequest, _ directory: String, milliseconds: Int32 = ControlSocket.patience
    ) -> ControlAnswer? {
        guard let descriptor = ControlSocket.connect(directory), let line = try? JSONEncoder().encode(request),
            ControlSocket.write([UInt8](line), to: descriptor),
            let answer = ControlSocket.readLine(descriptor, milliseconds: milliseconds)
        else { return nil }
        return try? JSONDecoder().decode(ControlAnswer.self, from: Data(answer))
    }
}
