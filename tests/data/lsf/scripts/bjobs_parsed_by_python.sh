# A workflow in Python asks for JSON, and for fields with a delimiter.
id=$(bsub -J "py[1-3]" -o /dev/null 'exit $((LSB_JOBINDEX - 1))' | grep -oE '[0-9]+' | head -1)
bwait -t 1 -w "ended($id)"
python3 - $id <<'END'
import json, subprocess, sys
def call(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, universal_newlines=True).stdout
rows = json.loads(call("bjobs", "-json", "-a", "-o", "jobid jobindex stat exit_code", sys.argv[1]))
print(rows["COMMAND"], rows["JOBS"])
for row in sorted(rows["RECORDS"], key=lambda row: int(row["JOBINDEX"])):
    print(row["JOBINDEX"], row["STAT"], repr(row["EXIT_CODE"]))
lines = call("bjobs", "-a", "-noheader", "-o", "jobid stat exit_code delimiter=','", sys.argv[1])
print(sorted(line.split(",")[1:] for line in lines.splitlines()))
END
