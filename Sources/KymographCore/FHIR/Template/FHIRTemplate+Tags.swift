extension FHIRTemplate {
    /// Each tag of its Observations (`meta.tag`) as `code`, and as `system|code` when it has a system.
    public var tagNames: [String] {
        members.tags.flatMap { tag -> [String] in
            guard let code = tag.code else { return [] }
            return [code] + (tag.system.map { ["\($0)|\(code)"] } ?? [])
        }
    }
}
