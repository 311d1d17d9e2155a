/// Settings by the parts of their keys: `output.format` is a leaf called `format` in the section `output`.
enum SettingTree<Leaf> {
    case leaf(String, Leaf)
    case section(String, [SettingTree])

    /// The tree of `leaves`, each with its dotted key. A section stands where its first key is.
    static func grouping(_ leaves: [(key: String, leaf: Leaf)]) -> [SettingTree] {
        var trees: [SettingTree] = []
        var seen: Set<Substring> = []
        for (key, leaf) in leaves {
            let name = key.prefix { $0 != "." }
            if name.count == key.count {
                trees.append(.leaf(key, leaf))
            } else if seen.insert(name).inserted {
                let members = leaves.filter { $0.key.hasPrefix("\(name).") }
                let inner = members.map { (String($0.key.dropFirst(name.count + 1)), $0.leaf) }
                trees.append(.section(String(name), grouping(inner)))
            }
        }
        return trees
    }
}
