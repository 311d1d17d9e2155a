/// A setting as `kymo config print` shows it.
struct PrintedSetting {
    /// Dotted name, as in `output.format`.
    var key: String
    /// Its value; the elements of a list.
    var texts: [String]
    var isList: Bool
    var values: SettingValues
    /// Where the value was written; nil for a default.
    var origin: SettingOrigin?

    /// What `root` has for `setting`; nil when that is no value.
    init?<Root>(_ setting: Setting<Root>, of root: Root, origin: SettingOrigin?) {
        let texts = setting.texts(root)
        guard !texts.isEmpty else { return nil }
        self.init(key: setting.key, texts, isList: setting.isList, setting.values, origin)
    }

    init(
        key: String, _ texts: [String], isList: Bool = false, _ values: SettingValues, _ origin: SettingOrigin?
    ) {
        (self.key, self.isList, self.values, self.origin) = (key, isList, values, origin)
        self.texts = texts.map(MaskedText.masking)
    }

    /// `kymo.yaml:3:9`, `KYMO_WINDOW`, `--window` or `default`.
    var place: String { origin?.place ?? "default" }
}
