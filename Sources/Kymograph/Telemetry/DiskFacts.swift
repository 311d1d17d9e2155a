import Glibc

/// How much room a file system has that kymo writes to.
package struct DiskFacts: Hashable, Sendable {
    /// The directory that the configuration names.
    package var directory: String
    /// Bytes that this process may still fill.
    package var freeBytes: Int
    /// Bytes that it could fill if it were empty.
    package var totalBytes: Int

    /// What the system says of the file systems of `directories`, which need not be there yet: of each once, by the
    /// first directory on it. On a file system that hangs it waits.
    static func look(_ directories: [String]) -> [DiskFacts] {
        var known: Set<UInt> = []
        return directories.compactMap { directory in
            let path = FileSystem.existing(directory)
            guard let device = FileSystem.target(path)?.st_dev, known.insert(device).inserted,
                let room = FileSystem.room(path)
            else { return nil }
            return DiskFacts(directory: directory, freeBytes: room.free, totalBytes: room.total)
        }
    }

    /// Percent in use, rounded up: 100 when less than a hundredth is left.
    package var percent: Int {
        guard totalBytes > 0, freeBytes < totalBytes else { return 0 }
        return 100 - Int(Double(freeBytes) / Double(totalBytes) * 100)
    }
}
