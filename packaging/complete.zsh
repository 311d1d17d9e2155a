# complete.zsh FOLDER LINE: what zsh makes of LINE and the tabulator, with the completions in FOLDER.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-colors ''"
zpty -w shell "bindkey '^I' expand-or-complete; setopt no_beep; print re''ady"
zpty -r -m shell line '*ready*' || exit 1
zpty -n -w shell "$2"$'\t'
# The completed word and a blank; the escapes of the line editor go.
zpty -r -m shell line '*status*'
zpty -d shell
print -r -- " ${${(M)line:#*status*}:+status} "
