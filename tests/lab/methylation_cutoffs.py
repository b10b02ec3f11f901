#!/usr/bin/env python3
"""Calls of one replicate predicted from the other: MethylSeekR's cut-offs beside labels of models.

    methylation_cutoffs.py r1.cov r2.cov MODEL...

r1.cov is predicted from r2.cov. Cut-offs: means over 3 CpGs, below .5 over 4 CpGs or more, 30 or more of them: UMR, else LMR; a beta-binomial for each
class, fitted to r2 (partially methylated domains are not cut out). MODEL: MODEL.json, learned from r2, and MODEL.LABEL.bedgraph, its posteriors of r2.
Standard library only.
"""

import collections
import json
import math
import sys

def read(f): return {int(l[1])-1:(int(l[4]),int(l[4])+int(l[5])) for l in (x.split() for x in open(f))}
r1, r2 = read(sys.argv[1]), read(sys.argv[2])
pos=sorted(r2)
lg=math.lgamma
def bb(m,n,mean,size):
    a,b=mean*size,(1-mean)*size
    return lg(m+a)-lg(a)+lg(n-m+b)-lg(b)-lg(n+size)+lg(size)+lg(n+1)-lg(m+1)-lg(n-m+1)
def fit(counts):
    best=None
    mean=sum(m*k for (m,n),k in counts.items())/sum(n*k for (m,n),k in counts.items())
    for size in [1.5**i for i in range(-2,14)]:
        for d in (-.04,-.02,0,.02,.04):
            mu=min(.99,max(.01,mean+d)); v=sum(k*bb(m,n,mu,size) for (m,n),k in counts.items())
            if best is None or v>best[0]: best=(v,mu,size)
    return best[1:]
sm=[]
for i,p in enumerate(pos):
    ms=ns=0
    for j in (i-1,i,i+1):
        if 0<=j<len(pos): m,n=r2[pos[j]]; ms+=m; ns+=n
    sm.append(ms/ns)
cls=[2]*len(pos); i=0
while i<len(pos):
    j=i
    while j<len(pos) and sm[j]<.5: j+=1
    if j-i>=4: cls[i:j]=[0 if j-i>=30 else 1]*(j-i)
    i=max(j,i+1)
both=[i for i,p in enumerate(pos) if p in r1]
params=[]
for c in range(3):
    counts=collections.Counter(r2[pos[i]] for i in range(len(pos)) if cls[i]==c); params.append(fit(counts) if counts else (.5,1))
print('classes',collections.Counter(cls),params)
cache={}
def val(m,n,q):
    k=(m,n,q)
    if k not in cache: cache[k]=bb(m,n,*q)
    return cache[k]
print('cut-offs: %.5f per CpG of %d'%(sum(val(*r1[pos[i]],params[cls[i]]) for i in both)/len(both),len(both)))
for name in sys.argv[3:]:
    d=json.load(open(name+'.json')); qs=[(t['mean'],t['size']) for t in d['tracks'] if t.get('density_of')]
    post=[]
    for l in d['labels']:
        out=[0.0]*len(pos); k=0
        for line in open('%s.%s.bedgraph'%(name,l['name'])):
            if line[0]=='#': continue
            f=line.split('\t'); b,e=int(f[1]),int(f[2])
            while k<len(pos) and pos[k]<e:
                out[k]=float(f[3]); k+=1
        post.append(out)
    print(name,'%.5f'%(sum(math.log(sum(max(post[c][i],1e-12)*math.exp(val(*r1[pos[i]],qs[c])) for c in range(len(qs)))) for i in both)/len(both)))
