import Foundation
import Synchronization

/// A heart rate for the mapping `reading`, at `second` of a day from 00:00 on.
func heartRate(_ second: Int, device: String = "watch-1") -> [UInt8] {
    let time = [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return Array(
        """
        {"deviceId":"\(device)","type":"heartRate","timestamp":"2026-03-01T\(time.joined(separator: ":"))Z",\
        "value":72,"unit":"/min"}
        """.utf8)
}

/// A folder of a test, removed with it.
final class Folder: Sendable {
    private let root = FileManager.default.temporaryDirectory.appending(path: "kymo-embedding-\(UUID())").path

    init() { try? FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func path(_ name: String) -> String { "\(root)/\(name)" }
}

/// A value that several threads change.
final class Box<Value: Sendable>: Sendable {
    private let stored: Mutex<Value>

    init(_ value: Value) { stored = Mutex(value) }

    var value: Value { stored.withLock { $0 } }

    func change(_ change: (inout Value) -> Void) {
        stored.withLock { stored in
            var value = stored
            change(&value)
            stored = value
        }
    }
}
