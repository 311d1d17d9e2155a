import CKymographLinux
import Glibc

/// A place where the process makes or changes files.
package enum WritePlace: Hashable, Sendable {
    /// A folder, with all that is in it.
    case folder(String)
    /// A file. It may be replaced: so its folder, unless it is a device, a pipe or the like.
    case file(String)
    /// Devices, which come and go.
    case devices
}

/// What the process may still change, after it has given up all else for good: files below some folders, and some
/// devices. It can also start no program any more (Landlock, Linux 5.19 and later).
///
/// What bytes from outside might make it do by a fault of the program stays within that. Files are read as before.
package struct Sandbox: Sendable {
    /// Folders, as the kernel calls them.
    private let folders: [String]
    /// Files that are not regular ones.
    private let files: [String]
    private let hasDevices: Bool

    /// The version of Landlock that the kernel has; nil without any.
    package static var version: Int? {
        let version = kymo_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// From here on, this thread and those that it starts change files in `places` only: a folder that is not there can
    /// be made, so that the nearest one above it counts. Nil where the kernel has no Landlock.
    ///
    /// - Throws: ``SystemError`` when the kernel refuses it. No right has been given up then.
    package static func enter(_ places: [WritePlace]) throws(SystemError) -> Sandbox? {
        guard version != nil else { return nil }
        let sandbox = Sandbox(places)
        let raw = kymo_landlock_new()
        guard raw >= 0 else { throw SystemError(-raw, "confine", "the process") }
        let rules = Descriptor(raw)
        for folder in sandbox.folders { try allow(folder, rules, everything: true) }
        // Libraries write there what is to be dropped.
        for file in sandbox.files + ["/dev/null"] { try allow(file, rules, everything: false) }
        if sandbox.hasDevices { try allow("/dev", rules, everything: false) }
        let code = kymo_landlock_enter(rules.raw)
        guard code >= 0 else { throw SystemError(-code, "confine", "the process") }
        return sandbox
    }

    private static func allow(_ path: String, _ rules: Descriptor, everything: Bool) throws(SystemError) {
        // Safe: Swift lends the path as a C string for the call.
        let code = unsafe kymo_landlock_allow(rules.raw, path, everything ? 1 : 0)
        // What is not there, no folder, or cannot be reached, is told of by whoever opens it. A pipe needs no rule.
        guard code >= 0 || [-ENOENT, -ENOTDIR, -EACCES, -ELOOP, -EINVAL, -EBADFD].contains(code) else {
            throw SystemError(-code, "confine", "the process to \(path)")
        }
    }

    private init(_ places: [WritePlace]) {
        let resolved = places.map(Self.resolved)
        folders = Set(resolved.compactMap { if case .folder(let path) = $0 { path } else { nil } }).sorted()
        files = Set(resolved.compactMap { if case .file(let path) = $0 { path } else { nil } }).sorted()
        hasDevices = resolved.contains(.devices)
    }

    /// The place as the kernel has it: without links, and a folder that is there.
    private static func resolved(_ place: WritePlace) -> WritePlace {
        switch place {
        case .devices: return .devices
        case .folder(let path): return .folder(FileSystem.resolved(FileSystem.existing(path)))
        case .file(let path):
            let path = destination(of: path)
            if let status = FileSystem.target(path), status.st_mode & S_IFMT != S_IFREG { return .file(path) }
            return resolved(.folder(FileSystem.folder(of: path)))
        }
    }

    /// What writing to `path` writes to, also where a link leads to what is not there.
    private static func destination(of path: String) -> String {
        var path = path
        for _ in 0..<8 {
            guard FileSystem.target(path) == nil, let target = FileSystem.linkTarget(path) else { break }
            path = target.hasPrefix("/") ? target : "\(FileSystem.folder(of: path))/\(target)"
        }
        return FileSystem.resolved(path)
    }

    /// Whether files can be changed in `place`, as it is now.
    func allows(_ place: WritePlace) -> Bool {
        switch Self.resolved(place) {
        case .devices: hasDevices
        case .file(let path): files.contains(path) || isBelowFolder(path) || hasDevices && path.hasPrefix("/dev/")
        case .folder(let path): isBelowFolder(path)
        }
    }

    private func isBelowFolder(_ path: String) -> Bool {
        folders.contains { $0 == "/" || path == $0 || path.hasPrefix($0 + "/") }
    }

    /// Whether it lets the process change everything.
    package var isOpen: Bool { folders.contains("/") }

    /// The places.
    package var text: String {
        let all = folders + files + (hasDevices ? ["/dev"] : [])
        return all.isEmpty ? "no files" : "files in \(all.joined(separator: ", ")) only"
    }
}
