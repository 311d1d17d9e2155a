import Foundation

/// A case in which the outcome differs from the reference system's on purpose.
struct ListedDifference: Decodable {
    private enum Field: String, CodingKey {
        case id, compatibility, quirk, reason
    }

    let id: String
    /// In which mode the outcome differs; empty where there is but one.
    let compatibility: String
    /// The quirk of the mapping dialect that is fixed; none where something else is the reason.
    let quirk: Int?
    let reason: String

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        id = try fields.decode(String.self, forKey: .id)
        compatibility = try fields.decodeIfPresent(String.self, forKey: .compatibility) ?? ""
        quirk = try fields.decodeIfPresent(Int.self, forKey: .quirk)
        reason = try fields.decode(String.self, forKey: .reason)
    }

    /// Those that the file `name` beside this one lists.
    static func load(_ name: String) throws -> [ListedDifference] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
        return try JSONDecoder().decode([ListedDifference].self, from: Data(contentsOf: file))
    }
}
