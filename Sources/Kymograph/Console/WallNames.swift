/// What series are called, as the page Live gets it: those of one type and unit together, which are named once for all
/// of them. Types and units are of mappings: how long the answer is says nothing of what a device has sent.
struct WallNames {
    /// Compared as bytes: a `String` is equal to one of other bytes that looks the same.
    private struct Kind: Hashable {
        var type: [UInt8]
        var unit: [UInt8]?
    }

    private struct Group {
        var type: String
        var unit: String?
        var series = NumberRuns()
        var masks: [String] = []
    }

    private var places: [Kind: Int] = [:]
    private var groups: [Group] = []

    /// Adds the series `number`, for whose device `mask` stands.
    mutating func append(_ number: Int, type: String, unit: String?, mask: String) {
        let kind = Kind(type: Array(type.utf8), unit: unit.map { Array($0.utf8) })
        let place = places[kind, default: groups.count]
        if place == groups.count {
            places[kind] = place
            groups.append(Group(type: type, unit: unit))
        }
        groups[place].series.append(number)
        groups[place].masks.append(mask)
    }

    /// A JSON object.
    var json: [UInt8] {
        var object = JSONMembers()
        object.add("kinds", list: groups.map(Self.json))
        return object.finished()
    }

    private static func json(_ group: Group) -> [UInt8] {
        var object = JSONMembers()
        object.add("type", group.type)
        object.add("unit", group.unit)
        object.add("series", numbers: group.series.lengths)
        object.add("devices", texts: group.masks)
        return object.finished()
    }
}
