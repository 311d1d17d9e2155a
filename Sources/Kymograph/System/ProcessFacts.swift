import Glibc

/// What the system knows of this process (proc(5)).
package struct ProcessFacts: Sendable {
    /// Processor time, of user and system, in seconds.
    package var cpuSeconds = 0.0
    /// Bytes of memory in use.
    package var residentBytes = 0
    /// Bytes of address space.
    package var virtualBytes = 0
    /// Open descriptors, and how many may be open.
    package var openDescriptors = 0
    /// Most open descriptors.
    package var mostDescriptors = 0
    /// When it began, in seconds since 1970.
    package var startSeconds = 0.0
    /// Threads.
    package var threads = 0

    /// Nothing known.
    package init() {}

    /// The present facts; zero where the system does not say.
    static func now() -> ProcessFacts {
        var facts = ProcessFacts()
        facts.readState()
        // The descriptor that reads the directory, and its two names, are not counted.
        facts.openDescriptors = max(0, FileSystem.names(in: "/proc/self/fd").count - 3)
        var limit = rlimit()
        // Safe: the struct is ours.
        if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            facts.mostDescriptors = Int(clamping: limit.rlim_cur)
        }
        return facts
    }

    private mutating func readState() {
        let text = String(decoding: FileSystem.content("/proc/self/stat") ?? [], as: UTF8.self)
        // The second field is the name, in parentheses, and may have blanks and parentheses itself.
        guard let name = text.lastIndex(of: ")") else { return }
        let fields = text[name...].dropFirst(2).split(separator: " ")
        func number(_ field: Int) -> Double { fields.count > field - 3 ? Double(fields[field - 3]) ?? 0 : 0 }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        cpuSeconds = (number(14) + number(15)) / ticks
        threads = Int(number(20))
        virtualBytes = Int(number(23))
        residentBytes = Int(number(24)) * Int(sysconf(Int32(_SC_PAGESIZE)))
        startSeconds = ProcessFacts.bootSeconds() + number(22) / ticks
    }

    /// When the system began, in seconds since 1970. /proc/stat, which says so, too, is hidden from services with
    /// ProcSubset=pid.
    private static func bootSeconds() -> Double {
        var (now, sinceBoot) = (timespec(), timespec())
        // Safe: the structs are ours.
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        unsafe clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        return Double(now.tv_sec - sinceBoot.tv_sec) + Double(now.tv_nsec - sinceBoot.tv_nsec) / 1e9
    }
}
