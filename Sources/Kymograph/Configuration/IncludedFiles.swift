import Glibc
import KymographCore
import KymographTemplates

/// The files that `include` names in a configuration file.
enum IncludedFiles {
    /// What tells a file from others, whatever its path.
    struct Identity: Hashable {
        private let device: UInt64
        private let number: UInt64

        /// Of what `path` leads to; nil when nothing is there.
        init?(_ path: String) {
            guard let status = FileSystem.target(path) else { return nil }
            (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
        }
    }

    /// The key, as the settings are.
    static let setting = Setting<[String]>.names(
        "include", "file, or pattern of files such as `conf.d/*.yaml`", \.self,
        "Files that are read before this one, relative to it; what this one says overrides them")

    /// The paths that `texts` name, in order; relative ones begin at the folder of `file`. A pattern's are sorted.
    static func paths(
        _ texts: [SettingText], in file: String, log: inout ConfigurationLog
    ) -> [(path: String, origin: SettingOrigin)] {
        texts.flatMap { text in
            let path = path(text.text, in: file)
            guard path.contains(where: "*?[".contains) else { return [(path, text.origin)] }
            let found = FileSystem.matching(path)
            if found.isEmpty {
                log.add(.warning, text.origin, "no file matches '\(path)'", advice: "add one, or remove the pattern")
            }
            return found.map { ($0, text.origin) }
        }
    }

    /// Where `text` leads to in `file`.
    static func path(_ text: String, in file: String) -> String {
        let folder = file.lastIndex(of: "/").map { file[...$0] } ?? ""
        return text.hasPrefix("/") ? text : folder + text
    }

    /// The content of `path`; nil, with a note in `log`, when it cannot be read.
    static func content(_ path: String, _ origin: SettingOrigin, log: inout ConfigurationLog) -> [UInt8]? {
        // Not to wait for a writer, should it be a pipe.
        let raw = FileSystem.open(path, O_RDONLY | O_NONBLOCK)
        guard raw >= 0 else {
            let advice = -raw == ENOENT ? "name a file that is there" : "change its permissions, or remove it here"
            log.add(.error, origin, "\(path) cannot be read: \(ErrorText.of(-raw))", advice: advice)
            return nil
        }
        let file = Descriptor(raw)
        if let status = FileSystem.status(file.raw), status.st_mode & S_IFMT == S_IFDIR {
            log.add(.error, origin, "\(path) is a folder", advice: "name its files, such as \(path)/*.yaml")
            return nil
        }
        guard let bytes = FileSystem.read(file.raw, limit: maxBytes), bytes.count <= maxBytes else {
            log.add(.error, origin, "\(path) cannot be read, or is longer than 4 MiB", advice: "name a YAML file")
            return nil
        }
        return bytes
    }

    private static let maxBytes = 4 << 20
}
