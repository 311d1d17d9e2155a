/// How entry blocks are written: little-endian, nothing aligned.
///
/// A block is a head of 16 bytes and its entries. The head: `keb` and the version of the layout (1), one byte each for
/// format and type, way of writing, flags (1: References by identifier state types) and a zero, then the number of
/// entries and that of all bytes, 32 bits each.
///
/// An entry is a head of 56 bytes, the ``EntryPart``s, and 12 bytes for each Reference: place, role, target. Its head:
/// number of bytes in all (32 bits), kind, flags (1: belongs together with the entry before, 2: not in bundles, 4:
/// the first of several that belong together, 8: stands for a Device that is described elsewhere, 16: says that an
/// Observation was an error), number of References (16 bits), lengths of the parts, the place of the id in the body,
/// and the numbers of the entries that are its Patient, Device and gateway (32 bits each; all ones for none).
enum EntryLayout {
    static let version: UInt8 = 1
    static let blockHead = 16
    static let entryHead = 56
    static let reference = 12
    /// Where in an entry's head its kind is.
    static let kind = 4
    /// Where in an entry's head the lengths of its parts begin.
    static let lengths = 8
    /// Where the place of the id is, and those of Patient, Device and gateway.
    static let idPlace = 40
    static let patient = 44
    static let device = 48
    static let gateway = 52
    /// No entry.
    static let none: UInt32 = .max
    /// `keb` and the version.
    static let magic: UInt32 = 0x0062_656B | UInt32(version) << 24
}

/// Texts of an entry, in their order.
enum EntryPart: Int {
    /// The resource's JSON, without its id, and with holes for References: `"subject":{}`.
    case body
    /// Type of the resource.
    case type
    /// The id that we give it; none for bare entries.
    case id
    /// What references within a bundle say. Observations have none where it follows from the id.
    case fullURL
    /// System and value of the identifier that it is searched by; of a long one what stands for it.
    case system
    case value
    /// The whole of a long identifier.
    case whole
    /// System of the encounter that it refers to, 32 bits of length, and value; empty without one.
    case encounter

    /// How many there are.
    @inline(__always)
    static var count: Int { EntryPart.encounter.rawValue + 1 }

    /// Where its length is in the entry's head.
    @inline(__always)
    var length: Int { EntryLayout.lengths + 4 * rawValue }
}

extension EntryLayout {
    /// Bits of an entry's flags.
    static let isJoined: UInt8 = 1
    static let isUnwritten: UInt8 = 2
    static let beginsPanel: UInt8 = 4
    static let isStandIn: UInt8 = 8
    static let isEmptied: UInt8 = 16
    /// All of them.
    static let flags: UInt8 = 31

    /// The bytes of `form` in a block's head.
    static func code(of form: BundleForm) -> UInt32 {
        let type: UInt32 =
            switch (form.format, form.type) {
            case (.bundle, .transaction): 0
            case (.bundle, .batch): 1
            case (.bundle, .collection): 2
            case (.ndjson, _): 3
            }
        let write: UInt32 =
            switch form.write {
            case .putByID: 0
            case .conditionalCreate: 1
            case .conditionalUpdate: 2
            }
        return type | write << 8 | (form.hasReferenceType ? 1 << 16 : 0)
    }

    /// The form of these bytes; nil when there is none.
    static func form(of code: UInt32) -> BundleForm? {
        guard code >> 17 == 0 else { return nil }
        var form = BundleForm(hasReferenceType: code >> 16 == 1)
        switch code & 0xFF {
        case 0: form.type = .transaction
        case 1: form.type = .batch
        case 2: form.type = .collection
        case 3: form.format = .ndjson
        default: return nil
        }
        switch code >> 8 & 0xFF {
        case 0: form.write = .putByID
        case 1: form.write = .conditionalCreate
        case 2: form.write = .conditionalUpdate
        default: return nil
        }
        return form
    }
}
