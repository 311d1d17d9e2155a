import Foundation

/// Processor time of a thread of this process.
enum ThreadTime {
    /// What the thread called `name` has used, in steps of 10 ms; nil when there is none.
    static func of(_ name: String) -> Duration? {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for task in tasks {
            guard let text = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8) else {
                continue
            }
            // The name is in parentheses, and the two times are the 12th and 13th field behind it (proc(5)).
            let parts = text.split(separator: ")")
            let fields = (parts.last ?? "").split(separator: " ")
            guard parts.first?.hasSuffix("(\(name)") == true, fields.count > 12, let user = Int(fields[11]),
                let system = Int(fields[12])
            else { continue }
            return .milliseconds((user + system) * 10)
        }
        return nil
    }
}
